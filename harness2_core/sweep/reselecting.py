"""Voting again on stored finals with another selector: recorded beside, adopting nothing, reopening nothing.

A vote is on the finals of one attempt at a task: opened again, a task has finals on which nobody has voted. Where the
selector failed, the same command asks it again, under another draw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from attrs import frozen

from harness2_core.api.runtime import Engine
from harness2_core.model.canonical import Digest
from harness2_core.model.namespace import Namespace
from harness2_core.model.records import RollRecord, SelectionRecord
from harness2_core.model.requests import Request
from harness2_core.model.serial import dump, load
from harness2_core.work.worker import perform

from .archive import Archive
from .budget import Budget
from .events import Events
from .graph import Key, Node
from .picking import Vote, picked
from .prepare import Body, Prepare
from .result import Paid
from .scheduler import Scheduler
from .spending import Costs
from .steps import Held
from .stop import Stop
from .study import Study
from .telling import opening, teller

KIND: Final = "reselection"


@frozen
class Second:
    """The first pick of a mode of a task, and the second one."""

    task: str
    mode: str
    first: SelectionRecord
    second: SelectionRecord | None


@frozen
class Reselected:
    rows: tuple[Second, ...]
    paid: Paid
    interrupted: bool = False
    signal: int = 0

    @property
    def left(self) -> tuple[Second, ...]:
        """Those on which the selector has not voted, or failed to."""
        return tuple(row for row in self.rows if row.second is None or failed(row.second))


def vote_of(name: str, vote: Vote) -> Vote:
    """The vote under a label of its own: the same finals, another draw."""
    return Vote(vote.selector, name, "vote_" + "".join(c if c.isalnum() else "_" for c in name))


def second_pick(archive: Archive, namespace: Namespace, task: str, selector: str) -> SelectionRecord | None:
    """What this selector picked among the latest finals of the task; the last of its tries, if it has voted at all."""
    tries = _tries(archive, namespace, task, selector)
    return tries[-1] if tries else None


def voters(archive: Archive, namespace: Namespace, tasks: Collection[str]) -> Iterator[tuple[str, str]]:
    """(selector, task) of every vote that was ever recorded on these tasks in this mode."""
    found = set()
    for key, _ in archive.store.scan(KIND):
        place, _, rest = key.partition("/")
        task, _, voter = rest.rpartition("/")
        if place.partition("@")[0] == str(namespace) and task in tasks:
            found.add((voter.partition("#")[0], task))
    yield from sorted(found)


def failed(vote: SelectionRecord) -> bool:
    """Whether a vote says nothing of its selector: it gave none, and what stands there is the first of the ballot."""
    return vote.fallback or not (vote.ok or vote.dropped)


def reselect(study: Study, vote: Vote, engine: Engine, budget: Budget, stop: Stop, events: Events) -> Reselected:
    """Votes on every finished (task, mode) that this selector has not voted on, or failed to."""
    nodes: dict[Key, Node] = {}
    started: dict[Digest, Request] = {}
    for tasks in study.chosen.values():
        for task in tasks:
            for mode in study.modes:
                record = study.archive.latest_mode(study.namespace(mode), task)
                done = second_pick(study.archive, study.namespace(mode), task, vote.name)
                if record is not None and record.selection is not None and (done is None or failed(done)):
                    key = Key("reselect", task, mode)
                    nodes[key] = Node(key, (), "session", len(nodes))

    def body(study: Study, key: Key, results: Mapping[Key, SelectionRecord]) -> Body[SelectionRecord | Held]:
        return _again(study, key, vote)

    events.tell("reselecting-started", facts=opening(study, nodes))
    costs = Costs(study.archive)
    prepare: Prepare[SelectionRecord] = Prepare(study, body, budget.may_start, started)
    Scheduler(nodes, prepare, engine, perform, study.limits, stop, teller(events, costs, started)).run()
    paid = costs.paid_for(started, prepare.former)
    return Reselected(_rows(study, vote.name), paid, stop.level > 0, stop.signal)


def _again(study: Study, key: Key, vote: Vote) -> Body[SelectionRecord | Held]:
    namespace = study.namespace(key.mode)
    record = study.archive.latest_mode(namespace, key.task)
    bases = study.archive.latest_bases(study.home, key.task)
    assert record is not None
    rolls: dict[str, RollRecord] = {roll.label: roll for roll in (bases.rolls if bases is not None else ())}
    rolls |= {roll.label: roll for roll in record.rolls}
    ordinal = len(_tries(study.archive, namespace, key.task, vote.name)) + 1
    label = vote.label if ordinal == 1 else f"{vote.label}_{ordinal}"
    made = yield from picked(study, key.mode, key.task, rolls, Vote(vote.selector, vote.name, label))
    study.store.put(KIND, _key(study.archive, namespace, key.task, vote.name, ordinal), dump(made))
    return made


def _rows(study: Study, selector: str) -> tuple[Second, ...]:
    found = []
    for tasks in study.chosen.values():
        for task in tasks:
            for mode in study.modes:
                record = study.archive.latest_mode(study.namespace(mode), task)
                if record is not None and record.selection is not None:
                    second = second_pick(study.archive, study.namespace(mode), task, selector)
                    found.append(Second(task, mode, record.selection, second))
    return tuple(found)


def _tries(archive: Archive, namespace: Namespace, task: str, selector: str) -> list[SelectionRecord]:
    found: list[SelectionRecord] = []
    while True:
        data = archive.store.get(KIND, _key(archive, namespace, task, selector, len(found) + 1))
        if data is None:
            return found
        found.append(load(data, SelectionRecord, f"{KIND} of {task}"))


def _key(archive: Archive, namespace: Namespace, task: str, selector: str, ordinal: int) -> str:
    """Of the finals that there are now: those of the latest attempt that came to its end."""
    attempt = archive.ended(namespace, task)
    return f"{namespace}{f'@{attempt}' if attempt > 1 else ''}/{task}/{selector}{f'#{ordinal}' if ordinal > 1 else ''}"
