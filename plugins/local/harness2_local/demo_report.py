"""The report of a demo, as lines for people and as data for `--json`. Pure: from a `DemoResult` to text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from .demo_result import DemoResult, ModeFacts
from .demo_scores import Scored, mean, paired

SCRIPTED: Final = (
    "Editor and agent are scripted: a playbook edits, and the harness is a program. No model and no network took\n"
    "part, so this shows how Harness2 works, and nothing of what a model would find."
)
DIFF_LINES: Final = 40
"""Lines of a diff that are shown."""


def report_lines(result: DemoResult) -> Iterator[str]:
    """The whole report, but for `SCRIPTED`, which is said before anything is done."""
    yield from _scores(result)
    yield from ("", *_differences(result), "", *_apart(result), "")
    yield from (*_diff(result), "", *_lesson(result), "", *_paid(result), "")
    yield "what to try next:"
    yield from (f"  {command}" for command in next_commands(result))


def next_commands(result: DemoResult) -> tuple[str, ...]:
    """Commands that look further into what has just been done."""
    harness2 = f"harness2 --config {shlex.quote(str(result.config))}"
    commands = [f"{harness2} show"]
    if result.shown is not None:
        item = result.shown.scored
        show = f"{harness2} show {shlex.quote(item.task)}"
        commands += [
            show,
            f"{show} --mode {item.mode} --trajectory base1",
            f"{show} --mode {item.mode} --diff {item.label}",
            f"{show} --mode {item.mode} --evidence {item.label}",
            f"{show} --mode {item.mode} --deliverables {item.label}",
        ]
    return (*commands, f"{harness2} library list", "harness2 demo --copy-to my-examples")


def report_data(result: DemoResult) -> dict[str, object]:
    """The report for machines. Scores are decimal strings between 0 and 1; null is ungraded."""
    return {
        "model_took_part": False,
        "namespace": result.namespace,
        "config": str(result.config),
        "k": result.k,
        "tasks": len(result.tasks),
        "modes": [_mode_data(result, mode) for mode in result.modes],
        "scores": [
            {"task": s.task, "mode": s.mode, "label": s.label, "base": _text(s.base), "adopted": _text(s.adopted)}
            for s in result.scores
        ],
        "ungraded": list(result.ungraded),
        "unfit": [{"task": unfit.task, "mode": unfit.mode, "why": unfit.why} for unfit in result.unfit],
        "diff": None
        if result.shown is None
        else {
            "task": result.shown.scored.task,
            "mode": result.shown.scored.mode,
            "label": result.shown.scored.label,
            "text": result.shown.diff,
        },
        "lesson": None
        if result.told is None
        else {"task": result.told.task, "mode": result.told.mode, "cue": result.told.cue, "lesson": result.told.lesson},
        "paid": {
            "rollouts": result.swept.rollouts,
            "sessions": result.swept.sessions,
            "gradings": result.judged.gradings,
            "lost": result.swept.lost + result.judged.lost,
        },
        "next": list(next_commands(result)),
    }


def _scores(result: DemoResult) -> Iterator[str]:
    kind = {True: "", False: " (control)"}
    head = ("task", "base", *(f"{mode.name}{kind[mode.learns]}" for mode in result.modes))
    found = {(item.task, item.mode): item for item in result.scores}
    rows = []
    for task in result.tasks:
        items = [found.get((task, mode.token)) for mode in result.modes]
        base = next((item.base for item in items if item is not None), None)
        rows.append((task, _percent(base), *(_cell(item) for item in items)))
    bases = [item.base for item in {item.task: item for item in result.scores}.values() if item.base is not None]
    means = [mean([s.adopted for s in result.of_mode(mode.token) if s.adopted is not None]) for mode in result.modes]
    yield f"score of what was delivered, {len(result.tasks)} tasks, k = {result.k}:"
    yield from _table((head, *rows, ("mean", _percent(mean(bases)), *map(_percent, means))))


def _differences(result: DemoResult) -> Iterator[str]:
    yield "difference from base, in points, over the tasks graded in both (controls edit nothing: theirs is chance):"
    rows = [("mode", "n", "mean", "better", "same", "worse")]
    for mode in result.modes:
        pair = paired(result.of_mode(mode.token))
        points = "-" if pair.mean is None else f"{pair.mean * 100:+.1f}"
        rows.append((mode.name, str(pair.n), points, str(pair.better), str(pair.same), str(pair.worse)))
    yield from _table(rows)


def _apart(result: DemoResult) -> Iterator[str]:
    yield f"ungraded, and in no number above: {', '.join(result.ungraded) or 'nothing'}"
    for unfit in result.unfit:
        yield f"{_name(result, unfit.mode)} came to nothing on {unfit.task}, which counts as 0: {unfit.why}"


def _diff(result: DemoResult) -> Iterator[str]:
    if result.shown is None:
        yield "no mode that edits did better than base on any task: no harness to show"
        return
    item = result.shown.scored
    yield f"a harness: {item.label}, with which {_name(result, item.mode)} did {item.task}, as changes to base:"
    lines = result.shown.diff.rstrip().splitlines()  # its last line may be a blank one, and a blank one follows
    yield from (f"  {line}".rstrip() for line in lines[:DIFF_LINES])
    if len(lines) > DIFF_LINES:
        yield f"  ... and {len(lines) - DIFF_LINES} lines more"


def _lesson(result: DemoResult) -> Iterator[str]:
    told = result.told
    if told is None:
        yield "no task left a lesson"
        return
    before = f"; these had it before them: {', '.join(told.later)}" if told.later else ""
    yield f"a lesson: {_name(result, told.mode)} wrote it after {told.task}{before}"
    yield f"  when: {told.cue}"
    yield f"  then: {told.lesson}"


def _paid(result: DemoResult) -> Iterator[str]:
    swept, judged = result.swept, result.judged
    if swept.nothing and judged.nothing:
        yield "paid: nothing; everything was served from the store"
        return
    yield f"paid: {swept.rollouts} rollouts, {swept.sessions} sessions, {judged.gradings} gradings; no model, so 0 USD"
    lost = swept.lost + judged.lost
    if lost:
        yield f"  {lost} attempts came to nothing and were repeated"


def _mode_data(result: DemoResult, mode: ModeFacts) -> dict[str, object]:
    pair = paired(result.of_mode(mode.token))
    return {
        "token": mode.token,
        "name": mode.name,
        "control": not mode.learns,
        "n": pair.n,
        "mean_difference": _text(pair.mean),
        "better": pair.better,
        "same": pair.same,
        "worse": pair.worse,
    }


def _name(result: DemoResult, token: str) -> str:
    return next((mode.name for mode in result.modes if mode.token == token), token)


def _cell(item: Scored | None) -> str:
    if item is None:
        return "-"
    return _percent(item.adopted) + ("" if item.delivered or item.adopted is None else " (nothing)")


def _percent(score: Decimal | None) -> str:
    return "ungraded" if score is None else f"{score * 100:.0f} %"


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:.6f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join(["", first.ljust(widths[0]), *cells]).rstrip()
