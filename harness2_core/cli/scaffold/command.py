"""The command `harness2 plugins new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness2_core.model.kinds import KINDS

from ..terminal import say, say_json


def _kinds(incomplete: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(incomplete)]


def new(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.", autocompletion=_kinds)],
    name: Annotated[str, typer.Argument(help="What people will type, as in 'two-steps'.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="Where the new folder is made; here by default.")] = Path(),
    example: Annotated[
        str, typer.Option("--from", metavar="EXAMPLE", help="Begin from the code of an installed plugin of that kind.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Begin a plugin: a distribution that works, with its tests, in a new folder. Overwrites nothing."""
    from importlib import metadata  # here and below: only this command needs them

    from harness2_core.plugins.built_in import BUILT_IN
    from harness2_core.plugins.discovery import scan

    from ..main import COMMANDS
    from .naming import known_kind, named
    from .writing import rendered, write

    kind = known_kind(kind, KINDS)
    built_in = [found.name for found in BUILT_IN if found.kind == kind] + (list(COMMANDS) if kind == "command" else [])
    installed = [str(item.metadata["Name"]) for item in metadata.distributions() if item.metadata["Name"]]
    names = named(kind, name, scan(), installed, built_in)
    folder = to / names.distribution
    begun = None
    if example:
        from .example import example_of

        begun = example_of(ctx.obj.registry(), kind, example)
    texts = rendered(names, begun)
    write(texts, folder)
    if as_json:
        called = {"kind": kind, "name": names.plain, "token": names.token, "package": names.package}
        say_json({**called, "distribution": names.distribution, "folder": str(folder), "files": sorted(texts)})
        return
    say(f"made {folder}: the {kind} {names.plain!r}, in the distribution {names.distribution}")
    for path in sorted(texts):
        say(f"  {path}")
    say("\nin that folder:\n  pip install -e . 'harness2-core[testing]'\n  pytest")
    say(f"  harness2 plugins show {names.plain}")
