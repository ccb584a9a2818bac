"""`harness2 show`: what became of the tasks; of one, its stages, rolls, pick and lesson, or what one label left."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.records import ModeRecord, RollRecord, Summary
from harness2_core.model.serial import plain
from harness2_core.sweep.read import Reading

from .experiment import Ns, reading_of
from .names import labels, modes, tasks
from .run_options import run_options
from .terminal import one_line, say, say_json, table


@run_options
def show(
    ctx: typer.Context,
    options: tuple[str, ...],
    task: Annotated[str | None, typer.Argument(help="A task; without it, all of them.", autocompletion=tasks)] = None,
    mode: Annotated[
        str, typer.Option("--mode", help="Mode token, where a label exists in several.", autocompletion=modes)
    ] = "",
    trajectory: Annotated[
        str, typer.Option(metavar="LABEL", help="Print a rollout's transcript.", autocompletion=labels)
    ] = "",
    deliverables: Annotated[
        str, typer.Option(metavar="LABEL", help="Print what a rollout delivered.", autocompletion=labels)
    ] = "",
    evidence: Annotated[
        str, typer.Option(metavar="LABEL", help="List what a stage's session was given.", autocompletion=labels)
    ] = "",
    changes: Annotated[
        str, typer.Option("--diff", metavar="LABEL", help="Print a stage's changes to base.", autocompletion=labels)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
    ns: Ns = "",
) -> int:
    """Show an experiment's tasks, or one of them in full."""
    reading = reading_of(ctx, options, ns)
    if task is None:
        _tell_all(reading, as_json)
        return 0
    summary = reading.summary(task)
    if trajectory:
        say(reading.text(reading.rollout(reading.roll(summary, mode, trajectory).rollout).transcript.digest))
    elif deliverables:
        say("\n".join(delivered_lines(reading, reading.roll(summary, mode, deliverables))))
    elif evidence:
        say("\n".join(_evidence_lines(reading, summary, mode, evidence)))
    elif changes:
        stage = reading.stage(summary, mode, changes)
        say(reading.changes(stage.tree, changes) or f"{changes} changed nothing: its tree is the base")
    elif as_json:
        say_json(plain(summary))
    else:
        say("\n".join(summary_lines(summary)))
    return 0


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


def _tell_all(reading: Reading, as_json: bool) -> None:
    summaries = reading.summaries()
    if as_json:
        say_json([plain(summary) for summary in summaries])
        return
    say(f"experiment {reading.namespace}")
    say(table(("task", "status", "picks"), [(item.task, status_words(item), _picks(item)) for item in summaries]))


def _evidence_lines(reading: Reading, summary: Summary, mode: str, label: str) -> list[str]:
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
