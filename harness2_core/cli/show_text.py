"""What became of tasks, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.model.records import ModeRecord, RollRecord, Summary
from harness2_core.sweep.read import Reading

from .terminal import one_line, table


def status_words(summary: Summary) -> str:
    """The status; a task that nobody has begun has none."""
    return summary.status if summary.bases or summary.modes else "not run"


def summary_lines(summary: Summary) -> list[str]:
    """One task in full."""
    lines = [f"task {one_line(summary.task)}  domain {one_line(summary.domain)}  {status_words(summary)}"]
    lines += [f"  {roll.label:<10} {_roll_words(roll)}" for roll in summary.bases]
    for token, record in summary.modes.items():
        lines += ["", f"mode {token}: {'ok' if record.ok else one_line(record.error) or 'not ok'}"]
        lines += [f"  {line}" for line in (*_step_lines(record), *_pick_lines(record), *_lesson_lines(record))]
    return [*lines, *(f"error: {one_line(error)}" for error in summary.errors)]


def delivered_lines(reading: Reading, roll: RollRecord) -> list[str]:
    """Names and sizes, then each text view under its name."""
    rollout = reading.rollout(roll.rollout)
    lines = [f"{one_line(path)}  {entry.size:,} bytes" for path, entry in rollout.deliverables.entries.items()]
    for path, entry in rollout.views.entries.items():
        if path.endswith(".txt"):
            lines += ["", f"--- {one_line(path)}", reading.text(entry.digest).rstrip("\n")]
    return lines or ["nothing was delivered"]


def table_lines(summaries: Sequence[Summary]) -> str:
    """One line for each task."""
    return table(("task", "status", "picks"), [(item.task, status_words(item), _picks(item)) for item in summaries])


def evidence_lines(reading: Reading, summary: Summary, mode: str, label: str) -> list[str]:
    lines = []
    for drawn, digest, files in reading.sessions_seen(reading.stage(summary, mode, label)):
        lines.append(f"session {drawn}  request {digest}")
        lines += [f"  {size:>10,}  {one_line(path)}" for path, size in sorted(files.items())]
    return lines or ["the stage fell back before a session was asked"]


def _roll_words(roll: RollRecord) -> str:
    return f"{roll.outcome.value}, {'delivered' if roll.delivered else 'nothing delivered'}"


def _step_lines(record: ModeRecord) -> list[str]:
    lines = []
    rolls = {roll.label: roll for roll in record.rolls}
    for stage in record.stages:
        state = "fell back" if stage.fell_back else "kept" if stage.kept else "edited"
        note = f": {one_line(stage.error)}" if stage.error else ""
        rolled = f"; {_roll_words(rolls[stage.label])}" if stage.label in rolls else ""
        lines.append(f"{stage.label:<10} {state}{note}{rolled}")
    staged = {stage.label for stage in record.stages}
    return lines + [f"{label:<10} {_roll_words(roll)}" for label, roll in rolls.items() if label not in staged]


def _pick_lines(record: ModeRecord) -> list[str]:
    picked = record.selection
    if picked is None:
        return []
    how = "fallback" if picked.fallback else "only one left" if picked.trivial else picked.selector
    lines = [f"picked     {picked.chosen or 'nothing'} ({how}) {one_line(picked.why)[:200]}"]
    lines += [f"dropped    {label}: {one_line(why)}" for label, why in picked.dropped.items()]
    return lines + [f"same       {label} delivered what {other} did" for label, other in picked.same.items()]


def _lesson_lines(record: ModeRecord) -> list[str]:
    lesson = record.reflection.lesson if record.reflection is not None else None
    if lesson is None:
        return []
    return [f"lesson     when: {one_line(lesson.cue)}", f"           then: {one_line(lesson.lesson)}"]


def _picks(summary: Summary) -> str:
    found = []
    for token, record in summary.modes.items():
        chosen = record.selection.chosen if record.selection is not None else ""
        found.append(f"{token}: {chosen or 'nothing'}")
    return ", ".join(found)
