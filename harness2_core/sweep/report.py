"""Gathers from the records what a report is made of; the rows themselves are made in `reporting`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Usage, total_usage
from harness2_core.model.errors import Harness2Error
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.plan import Plan
from harness2_core.model.records import Rollout, SelectionRecord, Summary
from harness2_core.model.serial import load_field
from harness2_core.plugins import facade
from harness2_core.plugins.provider_settings import settings_of

from .judges import bench_of, judge_of
from .judging import ALL, Row, rows_of
from .ledger import Spent, ledger_of
from .networks import confinement
from .procedures import alike
from .read import Reading
from .reporting import Flag, ModeRow, TaskRow, flags_of, mode_rows, task_rows
from .spending import usage_of
from .votes import second_pick, tries, voters
from .voting import VoteRow, vote_rows

SHARED: Final = ""
"""Stands for the modes together where spending is theirs all: bases, and gradings."""

VOTE: Final = "vote"


@frozen
class Spending:
    """What one role took in one mode, lost attempts included; `mode` is empty for bases and gradings.

    `vote` stands for selectors that voted again.
    """

    role: str
    mode: str
    requests: int
    usage: Usage


@frozen
class Report:
    """Everything that is known of an experiment. `names` maps mode tokens to names."""

    namespace: str
    k: int
    judge: str
    names: Mapping[str, str]
    controls: tuple[str, ...]
    """Tokens of the modes that do not learn."""
    tasks: tuple[TaskRow, ...]
    modes: tuple[ModeRow, ...]
    spending: tuple[Spending, ...]
    spent: Spent
    """By the whole experiment, with tries that came to nothing and tasks that were opened again."""
    votes: tuple[VoteRow, ...]
    flags: tuple[Flag, ...]
    alike: tuple[tuple[str, ...], ...]
    """Modes that are the same procedure at this k."""
    confinement: tuple[str, ...] = ()
    """Where executors could reach more or less than the tasks promise."""

    @property
    def empty(self) -> bool:
        return not any(row.rollouts for row in self.tasks)


def report_of(reading: Reading) -> Report:
    """The report of an experiment as it stands now. Pays nothing, and grades nothing."""
    study = reading.study
    summaries = {summary.task: summary for summary in reading.summaries()}
    modes = tuple(study.experiment.plans)
    bench = bench_of(reading.config, reading.registry, study) if judge_of(reading.config, reading.registry) else None
    graded = rows_of(study, bench, ALL) if bench is not None else ()
    library = {mode: _entries(reading, mode) for mode in modes}
    tasks = task_rows(study.stream, summaries, modes, graded, library)
    plans, names = _plans(reading, modes), {mode: _name(reading, mode) for mode in modes}
    return Report(
        namespace=reading.namespace,
        k=study.home.k,
        judge=bench.judge if bench is not None else "",
        names=names,
        controls=tuple(mode for mode, plan in plans.items() if not plan.learns),
        tasks=tasks,
        modes=mode_rows(tasks),
        spending=_spending(reading, summaries, graded),
        spent=ledger_of(study).spent(),
        votes=vote_rows(_votes(reading, modes, summaries), summaries, graded),
        flags=flags_of(graded),
        alike=tuple(tuple(names[mode] for mode in group) for group in alike(plans)),
        confinement=confinement(_versions(reading, summaries.values()), study.spec.network),
    )


def _versions(reading: Reading, summaries: Iterable[Summary]) -> Iterator[Mapping[str, str]]:
    """Of the rollouts of these tasks that have a record."""
    digests = {
        roll.rollout
        for summary in summaries
        for rolls in (summary.bases, *(record.rolls for record in summary.modes.values()))
        for roll in rolls
    }
    for digest in sorted(digests):
        data = reading.study.store.get("rollout", digest)
        if data is not None:
            yield load_field(data, Rollout, "versions", FrozenMap[str], digest)


def _entries(reading: Reading, mode: str) -> frozenset[str]:
    return frozenset(adoption.task for domain in reading.study.stream for adoption in reading.adoptions(mode, domain))


def _name(reading: Reading, mode: str) -> str:
    with suppress(Harness2Error):  # it ran, and its plugin is here no more: its token is a name too
        return reading.registry.find("mode", mode).name
    return mode


def _plans(reading: Reading, modes: tuple[str, ...]) -> dict[str, Plan]:
    """Of the modes that are installed still."""
    found = {}
    for token in modes:
        with suppress(Harness2Error):
            settings = settings_of(reading.registry, reading.config, "mode", token)
            found[token] = facade.mode(reading.registry, token, settings).plan(reading.study.home.k)
    return found


def _votes(
    reading: Reading, modes: tuple[str, ...], summaries: Mapping[str, Summary]
) -> dict[tuple[str, str, str], SelectionRecord]:
    """(selector, mode, task) -> the pick of each later vote."""
    archive, votes = reading.study.archive, {}
    for mode in modes:
        namespace = reading.study.namespace(mode)
        for selector, task in voters(archive, namespace, summaries):
            pick = second_pick(archive, namespace, task, selector)
            if pick is not None:  # of a task that was opened again, there may be votes on former finals only
                votes[selector, mode, task] = pick
    return votes


def _spending(reading: Reading, summaries: Mapping[str, Summary], graded: tuple[Row, ...]) -> tuple[Spending, ...]:
    requests: dict[tuple[str, str], set[Digest]] = {}

    def add(role: str, mode: str, *digests: Digest) -> None:
        if digests:
            requests.setdefault((role, mode), set()).update(digests)

    for summary in summaries.values():
        add("executor", SHARED, *(roll.rollout for roll in summary.bases))
        for mode, record in summary.modes.items():
            add("executor", mode, *(roll.rollout for roll in record.rolls))
            add("improver", mode, *(digest for stage in record.stages for digest in stage.sessions))
            for role, part in (("selector", record.selection), ("reflector", record.reflection)):
                add(role, mode, *(part.sessions if part is not None else ()))
    for mode in reading.study.experiment.plans:
        namespace = reading.study.namespace(mode)
        for selector, task in voters(reading.study.archive, namespace, summaries):
            for vote in tries(reading.study.archive, namespace, task, selector):
                add(VOTE, mode, *vote.sessions)
    add("judge", SHARED, *(row.grade.request for row in graded if row.grade is not None))
    kinds = {"executor": "rollout", "judge": "grade"}
    archive = reading.study.archive
    return tuple(
        Spending(role, mode, len(digests), total_usage(usage_of(archive, kinds.get(role, "session"), sorted(digests))))
        for (role, mode), digests in requests.items()
    )
