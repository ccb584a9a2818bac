"""Rows of judged rollouts, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from harness2_core.model.serial import plain
from harness2_core.sweep.judging import Row
from harness2_core.sweep.reporting import flags_of

from .terminal import one_line, table


def row_data(row: Row) -> dict[str, object]:
    """One row for machines."""
    return {
        "task": row.task,
        "domain": row.domain,
        "mode": row.mode,
        "label": row.label,
        "picked": row.picked,
        "delivered": row.delivered,
        "rollout": row.rollout,
        "score": row.score,
        "grade": plain(row.grade) if row.grade is not None else None,
    }


def rows_table(rows: Sequence[Row]) -> str:
    """One line for each row; ungraded is said, never shown as zero. Below: why, and what people should look at."""
    lines = [
        (row.task, row.mode or "base", row.label, "yes" if row.picked else "", percent(row.score), _items(row))
        for row in rows
    ]
    grades = table(("task", "mode", "label", "picked", "score", "items"), lines)
    return "\n".join((grades, *_unjudged(rows), *_audit(rows)))


def percent(score: str | None) -> str:
    return "ungraded" if score is None else f"{Decimal(score) * 100:.0f} %"


def _items(row: Row) -> str:
    if row.grade is None:
        return ""
    passed = sum(1 for verdict in row.grade.verdicts if verdict.passed)
    note = f" ({row.grade.error})" if row.grade.score is None and row.grade.error else ""
    return f"{passed}/{len(row.grade.verdicts)}{note}"


def _unjudged(rows: Sequence[Row]) -> Iterator[str]:
    """Why a score is missing, by the first item of each row that has no verdict."""
    for row in rows:
        verdicts = row.grade.verdicts if row.grade is not None and row.grade.score is None else ()
        for verdict in [found for found in verdicts if found.passed is None and found.why][:1]:
            where = f"{row.mode or 'base'} {row.label}"
            yield f"ungraded: {row.task} ({where}): {one_line(verdict.item)}: {one_line(verdict.why)}"


def _audit(rows: Sequence[Row]) -> Iterator[str]:
    """Words of the grader's files that turned up in a run, whatever its score."""
    for flag in flags_of(rows):
        yield f"audit: {flag.task} ({flag.mode or 'base'} {flag.label}): {one_line(flag.flag)}"
