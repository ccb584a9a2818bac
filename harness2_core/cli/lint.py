"""`harness2 lint`: whether a folder is a harness for an agent, by the rules that improvers are held to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness2_core.model.exits import DONE, NOT_DONE

from .invocation import Invocation
from .names import substrates
from .terminal import say, say_json


def lint(
    ctx: typer.Context,
    tree: Annotated[Path, typer.Argument(metavar="TREE", help="The folder that holds the harness.")],
    substrate: Annotated[
        str, typer.Option("--substrate", metavar="NAME", help="Agent framework.", autocompletion=substrates)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Check a harness folder against an agent's surface. Exit code 1: it has problems."""
    from attrs import asdict

    from harness2_core.plugins import facade
    from harness2_core.plugins.provider_settings import settings_of
    from harness2_core.sweep.linting import lint as lint_folder

    invocation: Invocation = ctx.obj
    registry = invocation.registry()
    registry.find("substrate", substrate)  # a wrong name is told before a wrong configuration
    settings = settings_of(registry, invocation.config(), "substrate", substrate)
    found = lint_folder(tree, facade.substrate(registry, substrate, settings))
    if as_json:
        say_json({"tree": str(tree), "ok": not found.problems, **asdict(found)})
        return NOT_DONE if found.problems else DONE
    for problem in found.problems:
        say(f"problem: {problem}")
    for note in found.notes:
        say(f"note: {note}")
    if found.problems:
        say(f"{tree}: no harness for the surface {found.surface!r}: {len(found.problems)} problems")
        return NOT_DONE
    say(f"{tree}: a harness for the surface {found.surface!r}, {found.files} files, fingerprint {found.fingerprint}")
    return DONE
