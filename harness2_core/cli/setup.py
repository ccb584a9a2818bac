"""`harness2 setup`: brings the agent that a substrate drives, at the version that it is tested with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .invocation import Invocation
from .names import substrates
from .terminal import one_line, say, say_json, table, warn

if TYPE_CHECKING:
    from harness2_core.api.substrates import SetsUp
    from harness2_core.plugins.config import Config
    from harness2_core.plugins.registry import Registry


def setup(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The substrate; without it: a list of those that have an agent.",
            autocompletion=substrates,
        ),
    ] = "",
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Where to put it, in place of the usual directory.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Bring the agent that a substrate drives; one that is there already costs nothing."""
    from harness2_core.model.errors import ConfigError
    from harness2_core.plugins.loading import blaming

    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config()
    if not name:
        if to is not None:
            raise ConfigError(f"--to {to}: nothing is named that could be put there", "give NAME too")
        _list(registry, config, as_json)
        return
    found = registry.find("substrate", name)
    part = _of(registry, config, name)
    if part is None:
        known = ", ".join(item for item, _ in _all(registry, config))
        raise ConfigError(
            f"{found} has no agent to set up", f"what can be set up here: {known}" if known else "see its README"
        )
    if part.tested_version not in _present(part):
        warn(f"bringing {name} {part.tested_version}: this may take a minute")
    with blaming(found, "its `set_up`"):
        told = part.set_up(to)
    say(told)


def _list(registry: Registry, config: Config, as_json: bool) -> None:
    rows = [(name, part.tested_version, _present(part)) for name, part in _all(registry, config)]
    if as_json:
        say_json([{"name": name, "tested": tested, "version": version} for name, tested, version in rows])
    elif rows:
        say(table(("NAME", "TESTED WITH", "IS THERE"), [(*row[:2], row[2] or "no") for row in rows]))
    else:
        say("nothing that is installed has an agent to set up")


def _all(registry: Registry, config: Config) -> Iterator[tuple[str, SetsUp]]:
    from harness2_core.model.errors import Harness2Error

    for name in registry.names("substrate"):
        try:
            part = _of(registry, config, name)
        except Harness2Error as error:  # a broken plugin has nothing to list, and is no reason to stop
            warn(f"note: left out: {one_line(error.what)}")
            continue
        if part is not None:
            yield name, part


def _of(registry: Registry, config: Config, name: str) -> SetsUp | None:
    from harness2_core.api.substrates import SetsUp
    from harness2_core.plugins import facade
    from harness2_core.plugins.provider_settings import settings_of

    made: object = facade.substrate(registry, name, settings_of(registry, config, "substrate", name))
    return made if isinstance(made, SetsUp) else None


def _present(part: SetsUp) -> str:
    from harness2_core.api.substrates import TellsVersion
    from harness2_core.model.errors import Harness2Error

    try:
        return part.version() if isinstance(part, TellsVersion) else ""
    except Harness2Error:
        return ""
