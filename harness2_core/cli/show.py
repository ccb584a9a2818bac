"""`harness2 show`: what became of the tasks; of one, its stages, rolls, pick and lesson, or what one label left."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from harness2_core.model.errors import ConfigError
from harness2_core.model.records import ModeRecord, RollRecord, Summary
from harness2_core.model.serial import plain
from harness2_core.model.tree import diff
from harness2_core.plugins.discovery import near
from harness2_core.sweep.closing import summary_of
from harness2_core.sweep.setup import study_of
from harness2_core.sweep.study import Study

from .invocation import Invocation
from .run_options import run_options
from .terminal import one_line, say, say_json, table


@run_options
def show(
    ctx: typer.Context,
    options: tuple[str, ...],
    task: Annotated[str | None, typer.Argument(help="A task; without it, all of them.")] = None,
    mode: Annotated[str, typer.Option("--mode", help="Mode token, where a label exists in several.")] = "",
    trajectory: Annotated[
        str, typer.Option("--trajectory", metavar="LABEL", help="Print a rollout's transcript.")
    ] = "",
    deliverables: Annotated[
        str, typer.Option("--deliverables", metavar="LABEL", help="Print what a rollout delivered, as text.")
    ] = "",
    evidence: Annotated[
        str, typer.Option("--evidence", metavar="LABEL", help="List what a stage's session was given.")
    ] = "",
    changes: Annotated[
        str, typer.Option("--diff", metavar="LABEL", help="Print a stage's tree as a diff from base.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
) -> int:
    """Show an experiment's tasks, or one of them in full."""
    invocation: Invocation = ctx.obj
    study = study_of(invocation.config(options), invocation.registry(), dry=True)
    if task is None:
        summaries = [summary_of(study, item) for tasks in study.chosen.values() for item in tasks]
        if as_json:
            say_json([plain(summary) for summary in summaries])
        else:
            say(f"experiment {study.home}")
            say(table(("task", "status", "picks"), [(s.task, s.status, _picks(s)) for s in summaries]))
        return 0
    if task not in study.cards:
        raise ConfigError(f"there is no task {task!r}", f"{near(task, study.cards)}see `harness2 show`")
    summary = summary_of(study, task)
    if trajectory:
        say(study.archive.text(study.archive.rollout(_roll(summary, mode, trajectory).rollout).transcript.digest))
    elif deliverables:
        for line in delivered_lines(study, _roll(summary, mode, deliverables)):
            say(line)
    elif evidence:
        for line in evidence_lines(study, summary, mode, evidence):
            say(line)
    elif changes:
        say(stage_diff(study, summary, mode, changes))
    elif as_json:
        say_json(plain(summary))
    else:
        for line in summary_lines(study, summary):
            say(line)
    return 0


def summary_lines(study: Study, summary: Summary) -> list[str]:
    """One task in full."""
    lines = [f"task {one_line(summary.task)}  domain {one_line(summary.domain)}  {summary.status}"]
    lines += [f"  {roll.label:<10} {roll_words(roll)}" for roll in summary.bases]
    for token, record in summary.modes.items():
        lines += ["", f"mode {token}: {'ok' if record.ok else one_line(record.error) or 'not ok'}"]
        lines += [f"  {line}" for line in _mode_lines(record)]
        if record.reflection is not None and record.reflection.lesson is not None:
            lesson = record.reflection.lesson
            lines += [f"  lesson: when {one_line(lesson.cue)}", f"          {one_line(lesson.lesson)}"]
    return [*lines, *(f"error: {one_line(error)}" for error in summary.errors)]


def stage_diff(study: Study, summary: Summary, mode: str, label: str) -> str:
    """A stage's tree as unified diffs from base."""
    for record in _modes(summary, mode):
        for stage in record.stages:
            if stage.label == label:
                return diff(study.base, study.archive.tree(stage.tree), "base", label) or "no file differs from base"
    raise _unknown(summary, label, [stage.label for record in _modes(summary, mode) for stage in record.stages])


def delivered_lines(study: Study, roll: RollRecord) -> list[str]:
    """Each deliverable's text view under its name."""
    rollout = study.archive.rollout(roll.rollout)
    lines = [f"{path}  {entry.size:,} bytes" for path, entry in rollout.deliverables.entries.items()]
    for path, entry in rollout.views.entries.items():
        if path.endswith(".txt"):
            lines += ["", f"--- {path}", study.archive.text(entry.digest).rstrip("\n")]
    return lines or ["nothing was delivered"]


def evidence_lines(study: Study, summary: Summary, mode: str, label: str) -> list[str]:
    """Path and size of everything that the sessions of a stage could read."""
    for record in _modes(summary, mode):
        for stage in record.stages:
            if stage.label == label:
                lines = []
                for digest in stage.sessions:
                    request = json.loads(study.archive.text(digest))["session"]
                    lines.append(f"session {request['draw']}  request {digest}")
                    files = study.archive.flat(study.archive.manifest(request["evidence"]))
                    lines += [f"  {entry.size:>10,}  {path}" for path, entry in sorted(files.items())]
                return lines or ["the stage fell back before a session was asked"]
    raise _unknown(summary, label, [stage.label for record in _modes(summary, mode) for stage in record.stages])


def roll_words(roll: RollRecord) -> str:
    return f"{roll.outcome.value}, {'delivered' if roll.delivered else 'nothing delivered'}"


def _mode_lines(record: ModeRecord) -> list[str]:
    lines = []
    rolls = {roll.label: roll for roll in record.rolls}
    for stage in record.stages:
        state = "fell back" if stage.fell_back else "kept" if stage.kept else "edited"
        note = f": {one_line(stage.error)}" if stage.error else ""
        rolled = f"; {roll_words(rolls[stage.label])}" if stage.label in rolls else ""
        lines.append(f"{stage.label:<10} {state}{note}{rolled}")
    lines += [
        f"{label:<10} {roll_words(roll)}"
        for label, roll in rolls.items()
        if label not in {s.label for s in record.stages}
    ]
    picked = record.selection
    if picked is not None:
        how = "fallback" if picked.fallback else "only one left" if picked.trivial else picked.selector
        lines.append(f"picked     {picked.chosen or 'nothing'} ({how}) {one_line(picked.why)[:200]}")
        lines += [f"dropped    {label}: {one_line(why)}" for label, why in picked.dropped.items()]
    return lines


def _picks(summary: Summary) -> str:
    found = []
    for token, record in summary.modes.items():
        chosen = record.selection.chosen if record.selection is not None else ""
        found.append(f"{token}: {chosen or 'nothing'}")
    return ", ".join(found)


def _modes(summary: Summary, mode: str) -> list[ModeRecord]:
    if mode and mode not in summary.modes:
        raise ConfigError(f"mode {mode!r} has no record of {summary.task}", f"known are {', '.join(summary.modes)}")
    return [summary.modes[mode]] if mode else list(summary.modes.values())


def _roll(summary: Summary, mode: str, label: str) -> RollRecord:
    rolls = [*summary.bases, *(roll for record in _modes(summary, mode) for roll in record.rolls)]
    for roll in rolls:
        if roll.label == label:
            return roll
    raise _unknown(summary, label, [roll.label for roll in rolls])


def _unknown(summary: Summary, label: str, known: list[str]) -> ConfigError:
    return ConfigError(
        f"{summary.task} has no {label!r}", f"{near(label, known)}known are {', '.join(known) or 'none'}"
    )
