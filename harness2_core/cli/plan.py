"""`harness2 plan`: the dry run. Prints the stream, the plans and their counts; pays nothing, starts nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.errors import ConfigError

from .invocation import Invocation
from .run_options import run_options
from .terminal import say, say_json


@run_options
def plan(
    ctx: typer.Context,
    options: tuple[str, ...],
    steps: Annotated[bool, typer.Option("--steps", help="Also list every step of each mode's plan.")] = False,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Print the modes' plans as a Mermaid flowchart, and nothing else.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Show what `run` would do: the stream, rollouts and sessions of each mode, and what is finished already."""
    from harness2_core.sweep.setup import study_of  # here: the shell completes names without all this

    from .plan_text import plan_data, plan_lines

    if mermaid and as_json:
        raise ConfigError("--json and --mermaid are two forms of one plan", "give one of them")
    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(options)
    study = study_of(config, registry, dry=True)
    if mermaid:
        from .plan_graph import mermaid as drawn

        say(drawn({token: (part.name, part.plan) for token, part in study.modes.items()}))
    elif as_json:
        say_json(plan_data(study))
    else:
        say("\n".join(plan_lines(study, steps)))
    return 0
