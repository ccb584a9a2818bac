"""`harness2 show`: what became of the tasks; of one, its stages, rolls, pick and lesson, or what one label left."""

from __future__ import annotations

from typing import Annotated

import typer

from .experiment import Ns, reading_of
from .names import labels, modes, tasks
from .run_options import run_options
from .terminal import say, say_json


@run_options
def show(
    ctx: typer.Context,
    options: tuple[str, ...],
    task: Annotated[str | None, typer.Argument(help="A task; without it, all of them.", autocompletion=tasks)] = None,
    mode: Annotated[str, typer.Option("--mode", help="Only this mode, by name or token.", autocompletion=modes)] = "",
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
    from attrs import evolve

    from harness2_core.model.serial import plain
    from harness2_core.sweep.modes import mode_meant

    from .show_text import delivered_lines, evidence_lines, summary_lines, table_lines

    reading = reading_of(ctx, options, ns)
    if task is None:
        summaries = reading.summaries()
        if as_json:
            say_json([plain(summary) for summary in summaries])
        else:
            say(f"experiment {reading.namespace}")
            say(table_lines(summaries))
        return 0
    summary = reading.summary(task)
    if mode := mode_meant(reading.study, mode):
        summary = evolve(summary, modes={mode: reading.modes(summary, mode)[0]})
    if trajectory:
        rollout = reading.rollout(reading.roll(summary, mode, trajectory).rollout)
        say(reading.text(rollout.transcript.digest).rstrip("\n"))
    elif deliverables:
        say("\n".join(delivered_lines(reading, reading.roll(summary, mode, deliverables))))
    elif evidence:
        say("\n".join(evidence_lines(reading, summary, mode, evidence)))
    elif changes:
        stage = reading.stage(summary, mode, changes)
        say(reading.changes(stage.tree, changes).rstrip("\n") or f"{changes} changed nothing: its tree is the base")
    elif as_json:
        say_json(plain(summary))
    else:
        say("\n".join(summary_lines(summary)))
    return 0
