"""`harness2 judge`: grades what was delivered, after the method is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

import typer

from harness2_core.model.serial import plain
from harness2_core.sweep.judging import ALL, BASES, FINALS, Row
from harness2_core.sweep.run import judge_sweep
from harness2_core.sweep.signals import asked_by_signals
from harness2_core.sweep.stop import Stop

from .exits import NOT_DONE, SOME_NOT_OK
from .experiment import Ns, chosen
from .live.watching import NoLive, watching
from .run_options import run_options
from .terminal import say, say_json, table, warn


@run_options
def judge(
    ctx: typer.Context,
    options: tuple[str, ...],
    bases: Annotated[bool, typer.Option("--bases", help="Grade the bases too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Grade every rollout.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
    no_live: NoLive = False,
    ns: Ns = "",
) -> int:
    """Grade what the modes delivered. What is graded completely is not graded again."""
    config, registry = chosen(ctx, options, ns)
    which = ALL if every else BASES if bases else FINALS
    with watching(no_live) as view, asked_by_signals(Stop(), view.tell) as stop:
        judged = judge_sweep(config, which, registry=registry, listeners=(view.listener,), stop=stop, notice=warn)
    if as_json:
        say_json([row_data(row) for row in judged.rows])
    else:
        say(rows_table(judged.rows))
        graded = len(judged.rows) - len(judged.ungraded)
        say(f"graded {graded} of {len(judged.rows)}; paid for {judged.paid.gradings} gradings now")
    if judged.interrupted:
        return 128 + (judged.signal or 2)
    if not judged.rows:
        warn("nothing to judge: run the experiment first")
        return NOT_DONE
    return SOME_NOT_OK if judged.ungraded else 0


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
    """One line for each row; ungraded is said, never shown as zero."""
    lines = [
        (row.task, row.mode or "base", row.label, "yes" if row.picked else "", percent(row.score), _items(row))
        for row in rows
    ]
    return table(("task", "mode", "label", "picked", "score", "items"), lines)


def percent(score: str | None) -> str:
    return "ungraded" if score is None else f"{Decimal(score) * 100:.0f} %"


def _items(row: Row) -> str:
    if row.grade is None:
        return ""
    passed = sum(1 for verdict in row.grade.verdicts if verdict.passed)
    note = f" ({row.grade.error})" if row.grade.score is None and row.grade.error else ""
    return f"{passed}/{len(row.grade.verdicts)}{note}"
