"""What an experiment came to, as rows: means and paired differences, and no statistics beyond them. Pure.

What was not graded is missing, never zero, and is counted apart. Every task of every mode has a row, whatever became
of it. Scores and differences are decimal strings between 0 and 1 (between -1 and 1), rounded to six places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from attrs import evolve, field, frozen

from harness2_core.model.check import decimal_text
from harness2_core.model.frozen import strings
from harness2_core.model.records import ModeRecord, SelectionRecord, Summary

from .judging import Row

DONE: Final = "done"
UNFINISHED: Final = "not finished"
BASE_FAILED: Final = "base-failed"
NOT_RUN: Final = "not run"

_PLACES: Final = Decimal("0.000001")


@frozen
class TaskRow:
    """One task in one mode. `base` is the mean of its graded bases, `adopted` the score of what the mode delivered."""

    task: str
    domain: str
    mode: str
    state: str
    base: str | None = None
    adopted: str | None = None
    difference: str | None = None
    """Adopted minus base, where both are known."""
    bases_graded: int = 0
    bases_ungraded: int = 0
    picked: str = ""
    """Label of what was picked."""
    pick: str = ""
    """`final`, `base`, `nothing`; `fallback` when the selector failed and the first was taken; empty: no pick yet."""
    kept: int = 0
    """Stages that were asked to edit and chose to keep what they were given."""
    fell_back: int = 0
    corrections: int = 0
    identical: int = 0
    """Finals that delivered just what another one did."""
    rollouts: int = 0
    """Bases included, which all modes share."""
    sessions: int = 0
    late: tuple[str, ...] = field(converter=strings, default=())
    """Earlier tasks of its stream whose entry came into the library after this mode had begun."""
    error: str = ""

    @property
    def ungraded(self) -> bool:
        """Done, and nobody knows how well."""
        return self.state == DONE and self.adopted is None


@frozen
class ModeRow:
    """One mode over one domain; `domain` is empty for all of them. Means are over tasks; sums are over those done."""

    mode: str
    domain: str
    tasks: int
    done: int
    base: str | None
    """Mean over the tasks with a graded base."""
    adopted: str | None
    """Mean over the graded tasks."""
    difference: str | None
    """Mean of the paired differences."""
    n: int
    """Pairs."""
    n_base: int
    n_adopted: int
    ungraded: int
    picks: Mapping[str, int]
    kept: int
    fell_back: int
    corrections: int
    identical: int
    rollouts: int
    sessions: int


@frozen
class Flag:
    """An audit finding about one graded rollout: for people, and no part of any score."""

    task: str
    mode: str
    label: str
    flag: str


def task_rows(
    stream: Mapping[str, Sequence[str]],
    summaries: Mapping[str, Summary],
    modes: Iterable[str],
    graded: Iterable[Row],
    library: Mapping[str, frozenset[str]],
) -> tuple[TaskRow, ...]:
    """Mode by mode, in stream order. `library` holds, for each mode, the tasks that have an entry now."""
    scores = Scores(graded)
    return tuple(
        _task_row(summaries[task], mode, scores, _earlier(tasks, task) & library.get(mode, frozenset()))
        for mode in modes
        for tasks in stream.values()
        for task in tasks
        if task in summaries
    )


def mode_rows(rows: Sequence[TaskRow]) -> tuple[ModeRow, ...]:
    """Each mode's domains, in the order of the rows, then all of them together where there are several."""
    found = []
    for mode in dict.fromkeys(row.mode for row in rows):
        own = [row for row in rows if row.mode == mode]
        domains = list(dict.fromkeys(row.domain for row in own))
        found += [_mode_row(mode, domain, [row for row in own if row.domain == domain]) for domain in domains]
        if len(domains) > 1:
            found.append(_mode_row(mode, "", own))
    return tuple(found)


def flags_of(graded: Iterable[Row]) -> tuple[Flag, ...]:
    return tuple(
        Flag(row.task, row.mode, row.label, flag) for row in graded if row.grade is not None for flag in row.grade.flags
    )


def mean(values: Iterable[Decimal]) -> str | None:
    """`None` of nothing."""
    known = list(values)
    return rounded(sum(known, Decimal(0)) / len(known)) if known else None


def rounded(value: Decimal) -> str:
    return decimal_text(value.quantize(_PLACES))


class Scores:
    """Scores by task, mode and label; those of bases belong to every mode."""

    def __init__(self, graded: Iterable[Row]) -> None:
        rows = tuple(graded)
        self._all = {(row.task, row.mode, row.label): row.score for row in rows}
        self._delivered = {(row.task, row.mode): row.score for row in rows if row.picked and row.mode}

    def of(self, task: str, mode: str, label: str) -> Decimal | None:
        score = self._all.get((task, mode, label)) or self._all.get((task, "", label))
        return None if score is None else Decimal(score)

    def delivered(self, task: str, mode: str) -> Decimal | None:
        """Of what the mode delivered, a nothing included."""
        score = self._delivered.get((task, mode))
        return None if score is None else Decimal(score)


def _task_row(summary: Summary, mode: str, scores: Scores, entries: frozenset[str]) -> TaskRow:
    known = [scores.of(summary.task, "", roll.label) for roll in summary.bases]
    bases = [score for score in known if score is not None]
    row = TaskRow(
        task=summary.task,
        domain=summary.domain,
        mode=mode,
        state=_state(summary, mode),
        base=mean(bases),
        bases_graded=len(bases),
        bases_ungraded=len(known) - len(bases),
        rollouts=len(summary.bases),
    )
    record = summary.modes.get(mode)
    return row if record is None else _with_record(row, record, scores.delivered(summary.task, mode), entries)


def _with_record(row: TaskRow, record: ModeRecord, score: Decimal | None, entries: frozenset[str]) -> TaskRow:
    parts = [part for part in (record.selection, record.reflection) if part is not None]
    both = row.base is not None and score is not None
    return evolve(
        row,
        adopted=None if score is None else rounded(score),
        difference=rounded(score - Decimal(row.base)) if both and score is not None and row.base is not None else None,
        picked=record.selection.chosen if record.selection is not None else "",
        pick=_pick(record.selection),
        kept=sum(stage.kept for stage in record.stages),
        fell_back=sum(stage.fell_back for stage in record.stages),
        corrections=sum(len(stage.sessions) > 1 for stage in record.stages),
        identical=len(record.selection.same) if record.selection is not None else 0,
        rollouts=row.rollouts + len(record.rolls),
        sessions=sum(len(part.sessions) for part in (*record.stages, *parts)),
        late=tuple(sorted(entries - set(record.seen))),
        error=record.error,
    )


def _state(summary: Summary, mode: str) -> str:
    if mode in summary.modes:
        return DONE
    if summary.status == BASE_FAILED:
        return BASE_FAILED
    return UNFINISHED if summary.bases or summary.modes else NOT_RUN


def _pick(selection: SelectionRecord | None) -> str:
    if selection is None:
        return ""
    if not selection.chosen:
        return "nothing"
    if selection.fallback:
        return "fallback"
    return "base" if selection.base_pick else "final"


def _mode_row(mode: str, domain: str, rows: Sequence[TaskRow]) -> ModeRow:
    done = [row for row in rows if row.state == DONE]
    picks = [row.pick for row in done if row.pick]

    def total(count: Callable[[TaskRow], int]) -> int:
        return sum(map(count, done))

    def known(value: Callable[[TaskRow], str | None]) -> list[Decimal]:
        return [Decimal(text) for row in done if (text := value(row)) is not None]

    bases, adopted = known(lambda row: row.base), known(lambda row: row.adopted)
    differences = known(lambda row: row.difference)
    return ModeRow(
        mode=mode,
        domain=domain,
        tasks=len(rows),
        done=len(done),
        base=mean(bases),
        adopted=mean(adopted),
        difference=mean(differences),
        n=len(differences),
        n_base=len(bases),
        n_adopted=len(adopted),
        ungraded=sum(row.ungraded for row in done),
        picks={kind: picks.count(kind) for kind in ("final", "base", "fallback", "nothing")},
        kept=total(lambda row: row.kept),
        fell_back=total(lambda row: row.fell_back),
        corrections=total(lambda row: row.corrections),
        identical=total(lambda row: row.identical),
        rollouts=total(lambda row: row.rollouts),
        sessions=total(lambda row: row.sessions),
    )


def _earlier(tasks: Sequence[str], task: str) -> frozenset[str]:
    return frozenset(tasks[: tasks.index(task)])
