"""Voting again on stored finals with another selector: recorded beside, adopting nothing, reopening nothing."""

from __future__ import annotations

from collections.abc import Mapping
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
        return tuple(row for row in self.rows if row.second is None)


def vote_of(name: str, vote: Vote) -> Vote:
    """The vote under a label of its own: the same finals, another draw."""
    return Vote(vote.selector, name, "vote_" + "".join(c if c.isalnum() else "_" for c in name))


def second_pick(archive: Archive, namespace: Namespace, task: str, selector: str) -> SelectionRecord | None:
    data = archive.store.get(KIND, _key(namespace, task, selector))
    return None if data is None else load(data, SelectionRecord, f"{KIND} of {task}")


def reselect(study: Study, vote: Vote, engine: Engine, budget: Budget, stop: Stop, events: Events) -> Reselected:
    """Votes on every finished (task, mode) that this selector has not voted on."""
    nodes: dict[Key, Node] = {}
    started: dict[Digest, Request] = {}
    for tasks in study.chosen.values():
        for task in tasks:
            for mode in study.modes:
                record = study.archive.latest_mode(study.namespace(mode), task)
                done = second_pick(study.archive, study.namespace(mode), task, vote.name)
                if record is not None and record.selection is not None and done is None:
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
    made = yield from picked(study, key.mode, key.task, rolls, vote)
    study.store.put(KIND, _key(namespace, key.task, vote.name), dump(made))
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


def _key(namespace: Namespace, task: str, selector: str) -> str:
    return f"{namespace}/{task}/{selector}"
