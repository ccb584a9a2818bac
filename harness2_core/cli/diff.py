"""`harness2 diff`: what two harnesses of a task differ in."""

from __future__ import annotations

from typing import Annotated

import typer

from .experiment import Ns, reading_of
from .names import modes, spans, tasks
from .run_options import run_options
from .terminal import say


@run_options
def diff(
    ctx: typer.Context,
    options: tuple[str, ...],
    task: Annotated[str, typer.Argument(help="The task.", autocompletion=tasks)],
    span: Annotated[
        str,
        typer.Argument(
            metavar="A..B",
            help="Labels of stages or rollouts, `base` or `adopted`; A alone is base..A.",
            autocompletion=spans,
        ),
    ] = "base..adopted",
    mode: Annotated[str, typer.Option("--mode", help="Mode, where several have it.", autocompletion=modes)] = "",
    ns: Ns = "",
) -> None:
    """Print what a task's harnesses differ in, as a unified diff; by default what was adopted against the base."""
    from harness2_core.sweep.comparing import changes_between
    from harness2_core.sweep.modes import mode_meant

    reading = reading_of(ctx, options, ns)
    changes = changes_between(reading, reading.summary(task), span, mode_meant(reading.study, mode))
    say(changes.rstrip("\n") or "no difference")
