"""Judging a study's rollouts: picked finals, bases, or all of them, through the same scheduler as the sweep.

A grading that misses verdicts is asked for again by the next call, which pays only for what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import field, frozen

from harness2_core.api.runtime import Engine
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.records import Grade, ModeRecord, RollRecord, Summary
from harness2_core.model.requests import GradeRequest, Request, request_digest
from harness2_core.work.material import grader_manifest
from harness2_core.work.worker import perform

from .closing import summary_of
from .events import Events
from .graph import Key, Node
from .prepare import Body, Prepare
from .result import Paid
from .scheduler import Scheduler
from .spending import Costs
from .steps import Held, Wanted
from .stop import Stop
from .study import Study
from .telling import opening, teller
from .votes import failed, second_pick, voters

FINALS: Final = "finals"
BASES: Final = "bases"
ALL: Final = "all"


@frozen
class Bench:
    """The judge in force: its name, channel and the settings that its verdicts depend on."""

    judge: str
    channel: Channel
    settings: FrozenMap[str] = field(converter=texts, factory=FrozenMap)


@frozen
class Row:
    """One rollout and its grade. `mode` is empty for bases; `picked` says that a mode delivered this one."""

    task: str
    domain: str
    mode: str
    label: str
    rollout: Digest
    picked: bool
    delivered: bool
    grade: Grade | None = None

    @property
    def score(self) -> str | None:
        """Decimal string between 0 and 1; `None`: ungraded."""
        return self.grade.score if self.grade is not None else None


@frozen
class Judged:
    """What a call came to. `ungraded` rows have no score now."""

    rows: tuple[Row, ...]
    paid: Paid
    interrupted: bool = False
    signal: int = 0

    @property
    def ungraded(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.score is None)


def rows_of(study: Study, bench: Bench, which: str) -> tuple[Row, ...]:
    """The rollouts that `which` (`finals`, `bases`, `all`) means, in plan order, with the grades they have.

    `finals` are those that were picked, by whichever selector.
    """
    found, voted = [], _voted(study)
    for tasks in study.chosen.values():
        for task in tasks:
            rows = tuple(_rows(summary_of(study, task), which, voted))
            grader = _grader(study, task) if rows else ""  # files are read: once for all rows of a task
            found += [_graded(study, bench, row, grader) for row in rows]
    return tuple(found)


def judge_rows(study: Study, bench: Bench, which: str, engine: Engine, stop: Stop, events: Events) -> Judged:
    """Grades what has no complete grade yet."""
    rows = {_key(row): row for row in rows_of(study, bench, which)}
    nodes = {
        key: Node(key, (), "grade", order)
        for order, (key, row) in enumerate(rows.items())
        if row.score is None and study.archive.rollout(row.rollout).usable
    }
    started: dict[Digest, Request] = {}

    def body(study: Study, key: Key, results: Mapping[Key, Grade | None]) -> Body[Grade | Held | None]:
        return _grade(study, bench, rows[key])

    events.tell("judging-started", facts=opening(study, nodes))
    costs = Costs(study.archive)
    prepare: Prepare[Grade | None] = Prepare(study, body, _admitted, started)
    Scheduler(nodes, prepare, engine, perform, study.limits, stop, teller(events, costs, started)).run()
    paid = costs.paid_for(started, prepare.former)
    return Judged(rows_of(study, bench, which), paid, stop.level > 0, stop.signal)


def _voted(study: Study) -> frozenset[tuple[str, str, str]]:
    """(task, mode, label) of what other selectors have picked: to be compared, it must be graded."""
    wanted = frozenset(task for tasks in study.chosen.values() for task in tasks)
    found = set()
    for mode in study.modes:
        namespace = study.namespace(mode)
        for selector, task in voters(study.archive, namespace, wanted):
            vote = second_pick(study.archive, namespace, task, selector)
            if vote is not None and not failed(vote):
                found.add((task, mode, vote.chosen))
    return frozenset(found)


def _rows(summary: Summary, which: str, voted: frozenset[tuple[str, str, str]]) -> Iterator[Row]:
    def row(mode: str, roll: RollRecord, picked: bool) -> Row:
        return Row(summary.task, summary.domain, mode, roll.label, roll.rollout, picked, roll.delivered)

    if which in (BASES, ALL):
        yield from (row("", roll, False) for roll in summary.bases)
    for mode, record in summary.modes.items():
        chosen = _delivered_by(record)
        for roll in (*summary.bases, *record.rolls):
            picked = roll.label == chosen
            if picked or (summary.task, mode, roll.label) in voted or (which == ALL and roll in record.rolls):
                yield row(mode, roll, picked)


def _delivered_by(record: ModeRecord) -> str:
    """The label that stands for what a mode delivered. Where nothing could be chosen, for nobody delivered, its first
    final stands for that nothing, which is graded zero: a mode is not flattered by its failures."""
    if record.selection is None:
        return ""
    return record.selection.chosen or next(iter(record.selection.dropped), "")


def _key(row: Row) -> Key:
    return Key("grade", row.task, row.mode, row.label)


def _grader(study: Study, task: str) -> Digest:
    return grader_manifest(study.store, study.adapter, task).digest


def _request(study: Study, bench: Bench, row: Row, grader: Digest) -> GradeRequest:
    return GradeRequest(
        bench=study.home.bench,
        task=row.task,
        task_digest=study.experiment.tasks[row.task],
        rollout=row.rollout,
        grader=grader,
        judge=bench.judge,
        channel=bench.channel,
        settings=bench.settings,
    )


def _graded(study: Study, bench: Bench, row: Row, grader: Digest) -> Row:
    grade = study.archive.grade(request_digest(_request(study, bench, row, grader)))
    return Row(row.task, row.domain, row.mode, row.label, row.rollout, row.picked, row.delivered, grade)


def _grade(study: Study, bench: Bench, row: Row) -> Body[Grade | Held | None]:
    request = _request(study, bench, row, _grader(study, row.task))
    digest = request_digest(request)
    incomplete = study.archive.grade(digest)
    if incomplete is not None and incomplete.score is None:
        study.store.delete("grade", digest)  # its good verdicts are kept apart, and are not asked for again
    yield (request,)
    return study.archive.grade(digest)


def _admitted(wanted: Wanted) -> str:
    return ""
