"""`harness2 check`: is everything there that a run needs? All answers at once; pays nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.exits import DONE, NOT_DONE

from .invocation import Invocation
from .run_options import run_options
from .terminal import pairs, say, say_json


@run_options
def check(
    ctx: typer.Context,
    options: tuple[str, ...],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Check everything a run needs: plugins, tasks, agent, judge, sandbox, limits, store. Exit code 1: not ready."""
    from harness2_core.sweep.checking import readiness  # here: the shell completes names without all this

    invocation: Invocation = ctx.obj
    found = readiness(invocation.config(options), invocation.registry())
    if as_json:
        say_json({"ready": found.ready, "problems": found.problems, "facts": found.facts, "notes": found.notes})
        return DONE if found.ready else NOT_DONE
    say(pairs({name: fact for name, fact in found.facts.items() if fact}))
    for note in found.notes:
        say(f"note: {note}")
    for problem in found.problems:
        say(f"problem: {problem}")
    count = len(found.problems)
    say("ready" if found.ready else f"not ready: {count} problem{'s' if count > 1 else ''}")
    return DONE if found.ready else NOT_DONE
