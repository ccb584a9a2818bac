"""Voting again on stored finals with another selector: recorded beside, adopting nothing, reopening nothing.

Who has voted is not asked again. Where the selector failed, the same command asks it again, under another draw.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from harness2_core.api.runtime import Engine
from harness2_core.model.canonical import Digest
from harness2_core.model.exits import NOT_DONE
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.records import RollRecord, SelectionRecord
from harness2_core.model.requests import Request
from harness2_core.work.worker import perform

from .budget import Budget
from .events import Events
from .graph import Key, Node
from .picking import Vote, picked
from .prepare import Body, Prepare
from .result import Paid, exit_of
from .scheduler import Scheduler
from .spending import Costs
from .steps import Held
from .stop import Stop
from .study import Study
from .telling import opening, teller
from .votes import failed, keep_vote, second_pick, tries


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
    held: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Step -> the budget that kept it from starting."""
    stopped: str = ""
    """Why the policy table stopped the voting, or a model."""

    @property
    def left(self) -> tuple[Second, ...]:
        """Those on which the selector has not voted, or failed to."""
        return tuple(row for row in self.rows if row.second is None or failed(row.second))

    @property
    def exit_code(self) -> int:
        """As of a run; 1 also when there is nothing to vote on."""
        if not (self.rows or self.interrupted):
            return NOT_DONE
        return exit_of(self.interrupted, self.signal, self.stopped, self.held, ok=not self.left)


def vote_of(name: str, vote: Vote) -> Vote:
    """The vote under a label of its own: the same finals, another draw."""
    return Vote(vote.selector, name, "vote_" + "".join(c if c.isalnum() else "_" for c in name))


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
    outcome = Scheduler(nodes, prepare, engine, perform, study.limits, stop, teller(events, costs, started)).run()
    return Reselected(
        _rows(study, vote.name),
        costs.paid_for(started, prepare.former),
        interrupted=stop.level > 0,
        signal=stop.signal,
        held={str(key): why for key, why in outcome.held.items()},
        stopped=outcome.stopped or "; ".join(outcome.barred),
    )


def _again(study: Study, key: Key, vote: Vote) -> Body[SelectionRecord | Held]:
    namespace = study.namespace(key.mode)
    record = study.archive.latest_mode(namespace, key.task)
    bases = study.archive.latest_bases(study.home, key.task)
    assert record is not None
    rolls: dict[str, RollRecord] = {roll.label: roll for roll in (bases.rolls if bases is not None else ())}
    rolls |= {roll.label: roll for roll in record.rolls}
    ordinal = len(tries(study.archive, namespace, key.task, vote.name)) + 1
    label = vote.label if ordinal == 1 else f"{vote.label}_{ordinal}"
    made = yield from picked(study, key.mode, key.task, rolls, Vote(vote.selector, vote.name, label))
    keep_vote(study.archive, namespace, key.task, vote.name, ordinal, made)
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
