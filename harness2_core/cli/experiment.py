"""`--ns`: which experiment a command is about. Commands on a run share it; the choice is said aloud.

The shell imports a command to complete its arguments. So this module, and those of commands with names to complete,
import what they work with when they work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from .invocation import Invocation
from .names import namespaces
from .terminal import warn

if TYPE_CHECKING:
    from harness2_core.plugins.config import Config
    from harness2_core.plugins.registry import Registry
    from harness2_core.sweep.read import Reading

Ns: TypeAlias = Annotated[
    str,
    typer.Option(
        "--ns",
        metavar="NAMESPACE",
        help="Experiment in the runs directory; else the configured one, else the newest.",
        autocompletion=namespaces,
    ),
]


def chosen(ctx: typer.Context, options: tuple[str, ...], ns: str) -> tuple[Config, Registry]:
    """The configuration of the experiment that is meant. Says on standard error when it is not the configured one."""
    from harness2_core.sweep.experiments import choose

    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(options)
    found = choose(config, registry, ns)
    if found.said:
        warn(f"experiment {found.said}")
    return found.config, registry


def reading_of(ctx: typer.Context, options: tuple[str, ...], ns: str) -> Reading:
    """The records of the experiment that is meant. What has changed since it ran is said on standard error."""
    from harness2_core.sweep.read import read

    config, registry = chosen(ctx, options, ns)
    reading = read(config, registry)
    for note in reading.study.notes:
        warn(f"note: {note}")
    return reading
