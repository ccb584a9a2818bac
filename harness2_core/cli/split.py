"""`harness2 split`: tasks for training and tasks for testing, drawn with a seed, domain by domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness2_core.plugins import facade
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.run_settings import run_settings
from harness2_core.sweep.splits import split_of, write_split

from .invocation import Invocation
from .terminal import say, say_json


def split(
    ctx: typer.Context,
    output: Annotated[Path, typer.Option("--output", metavar="FILE", help="A file that does not exist yet.")],
    bench: Annotated[str, typer.Option("--bench", metavar="NAME", help="Adapter that brings the tasks.")] = "",
    fraction: Annotated[str, typer.Option(metavar="SHARE", help="Share of each domain for training.")] = "0.5",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the shuffle.")] = 42,
    option_texts: Annotated[
        list[str] | None,
        typer.Option("-o", metavar="TABLE.KEY=VALUE", help="Any setting of the configuration. Repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Split the benchmark's tasks into train and test, for `run --split-file FILE --split train`."""
    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(option_texts or ())
    name = registry.default("adapter", bench or run_settings(config).bench)
    made = split_of(facade.adapter(registry, name, settings_of(registry, config, "adapter", name)), fraction, seed)
    write_split(made, output, fraction, seed)
    if as_json:
        say_json({"file": str(output), "benchmark": made.benchmark, "train": made.train, "test": made.test})
        return
    say(f"{output}: {len(made.train)} tasks for training and {len(made.test)} for testing, of {made.benchmark}")
    say(f"run with  --split-file {output} --split train")
