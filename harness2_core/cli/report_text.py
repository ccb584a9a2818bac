"""A report as lines for people, as data, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from attrs import asdict

from harness2_core.model.channel import Usage, total_usage
from harness2_core.model.serial import plain
from harness2_core.sweep.report import Report, Spending
from harness2_core.sweep.reporting import BASE_FAILED, DONE, NOT_RUN, UNFINISHED, ModeRow, TaskRow

from .terminal import one_line, table

NAMED: Final = 5
"""Tasks named one by one in a line."""


def report_data(found: Report) -> dict[str, object]:
    """The report for machines. Scores are decimal strings between 0 and 1; `null` is not graded, or not known."""
    spent = found.spent
    return {
        "namespace": found.namespace,
        "k": found.k,
        "judge": found.judge,
        "modes": [
            {"name": found.names[row.mode], "control": row.mode in found.controls, **asdict(row)} for row in found.modes
        ],
        "tasks": [asdict(row) for row in found.tasks],
        "spending": [
            {"role": item.role, "mode": item.mode, "requests": item.requests, "usage": plain(item.usage)}
            for item in found.spending
        ],
        "spent": {
            "rollouts": spent.rollouts,
            "sessions": spent.sessions,
            "usd": f"{spent.usd:f}",
            "unpriced": spent.unpriced,
        },
        "votes": [asdict(row) for row in found.votes],
        "flags": [asdict(flag) for flag in found.flags],
        "same_procedure": [list(group) for group in found.alike],
    }


def csv_text(rows: Sequence[TaskRow]) -> str:
    """Every task of every mode, whatever became of it; what is not known is an empty field."""
    head = list(asdict(rows[0])) if rows else []
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([_cell(value) for value in asdict(row).values()])
    return target.getvalue()


def report_lines(found: Report) -> list[str]:
    """The report for people."""
    tasks = {row.task for row in found.tasks}
    lines = [f"experiment {found.namespace}: k = {found.k}, {len(tasks)} tasks, judged by {found.judge or 'nobody'}"]
    lines += ["", *_score_lines(found), "", *_course_lines(found), "", *_spending_lines(found)]
    if found.votes:
        lines += ["", *_vote_lines(found)]
    notes = list(_notes(found))
    return [*lines, *(["", *notes] if notes else [])]


def _score_lines(found: Report) -> list[str]:
    head = ("mode", "domain", "done", "base", "adopted", "difference", "n", "ungraded", "rollouts", "sessions")
    rows = [
        (
            _mode(found, row.mode),
            row.domain or "all",
            f"{row.done}/{row.tasks}",
            percent(row.base),
            percent(row.adopted),
            points(row.difference),
            str(row.n),
            str(row.ungraded),
            str(row.rollouts),
            str(row.sessions),
        )
        for row in found.modes
    ]
    return table(head, rows).splitlines()


def _course_lines(found: Report) -> list[str]:
    picked, staged = ("final", "base", "failed", "nothing"), ("kept", "fell back", "corrected")
    head = ("mode", *(f"pick {kind}" for kind in picked), *(f"stages {what}" for what in staged), "identical finals")
    rows = []
    for row in _whole(found.modes):
        picks = (str(row.picks[kind]) for kind in ("final", "base", "fallback", "nothing"))
        stages = (row.kept, row.fell_back, row.corrections, row.identical)
        rows.append((_mode(found, row.mode), *picks, *map(str, stages)))
    return table(head, rows).splitlines()


def _spending_lines(found: Report) -> list[str]:
    rows = [
        (item.role, _shared(item) or _mode(found, item.mode), str(item.requests), *_usage(item.usage))
        for item in sorted(found.spending, key=lambda item: (item.role != "executor", item.mode))
    ]
    total = total_usage(item.usage for item in found.spending)
    rows.append(("all", "", str(sum(item.requests for item in found.spending)), *_usage(total)))
    lines = table(("paid for", "mode", "requests", "usd", "tokens", "time"), rows).splitlines()
    spent = found.spent
    unpriced = f", and {spent.unpriced} requests of unknown price" if spent.unpriced else ""
    return [
        *lines,
        f"begun in all, tries that came to nothing included: {spent.rollouts} rollouts, {spent.sessions} sessions, "
        f"{spent.usd:f} USD{unpriced}",
    ]


def _vote_lines(found: Report) -> list[str]:
    head = ("voted again", "mode", "tasks", "failed", "same pick", "first", "second", "difference", "n")
    rows = [
        (
            vote.selector,
            _mode(found, vote.mode),
            str(vote.tasks),
            str(vote.failed),
            str(vote.same),
            percent(vote.first),
            percent(vote.second),
            points(vote.difference),
            str(vote.n),
        )
        for vote in found.votes
    ]
    return table(head, rows).splitlines()


def _notes(found: Report) -> Iterator[str]:
    """What the numbers do not say themselves."""
    for group in found.alike:
        yield (
            f"k = {found.k}: {' and '.join(group)} are the same procedure: what they differ by is noise, "
            "and differences elsewhere must exceed it"
        )
    for state, told in ((NOT_RUN, "not run yet"), (BASE_FAILED, "every base failed"), (UNFINISHED, "not finished")):
        tasks = dict.fromkeys(row.task for row in found.tasks if row.state == state)
        if tasks:
            yield f"{told}: {_listed(tasks)}"
    if not found.judge:
        yield "no judge is installed: nothing is graded"
    elif any(row.ungraded for row in found.tasks):
        tasks = dict.fromkeys(row.task for row in found.tasks if row.ungraded)
        yield f"not graded, and in no mean: {_listed(tasks)}; `harness2 judge` grades, or says why it cannot"
    bases = {row.task: row.bases_ungraded for row in found.tasks if row.bases_ungraded}
    if found.judge and bases:
        yield f"{sum(bases.values())} bases of {len(bases)} tasks are not graded; `harness2 judge --bases` grades them"
    for row in found.tasks:
        if row.late:
            yield f"{row.task} ({found.names[row.mode]}) ran without entries that came late: {_listed(row.late)}"
        if row.state == DONE and row.error:
            yield f"{row.task} ({found.names[row.mode]}): {one_line(row.error)}"
    yield from found.confinement
    for flag in found.flags:
        where = f"{found.names[flag.mode]} {flag.label}" if flag.mode else flag.label
        yield f"audit: {flag.task} ({where}): {one_line(flag.flag)}"


def _whole(rows: Sequence[ModeRow]) -> list[ModeRow]:
    """One row for each mode: over all domains, or its only one."""
    return list({row.mode: row for row in rows}.values())  # the row of all domains comes last


def _mode(found: Report, mode: str) -> str:
    return found.names[mode] + (" (control)" if mode in found.controls else "")


def _shared(item: Spending) -> str:
    if item.mode:
        return ""
    return "shared bases" if item.role == "executor" else "gradings"


def _usage(usage: Usage) -> tuple[str, str, str]:
    price = "no model" if usage.source == "none" else "unknown" if usage.usd is None else usage.usd
    return price, f"{sum(usage.tokens.values()):,}" if usage.tokens else "", f"{usage.elapsed_ms / 1000:,.1f} s"


def percent(score: str | None) -> str:
    return "-" if score is None else f"{Decimal(score) * 100:.1f} %"


def points(difference: str | None) -> str:
    """A difference of two shares, in percentage points."""
    return "-" if difference is None else f"{Decimal(difference) * 100:+.1f}"


def _listed(names: Iterable[str]) -> str:
    listed = [one_line(name) for name in names]
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more


def _cell(value: object) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)
