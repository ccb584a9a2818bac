"""`harness2 init`: a commented configuration, or a small benchmark of an adapter's to start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from harness2_core.api.adapters import ShipsStarter
from harness2_core.model.errors import ConfigError, Harness2Error, StoreError
from harness2_core.model.kinds import KINDS, plural
from harness2_core.plugins.config import FILE
from harness2_core.plugins.fields import fields_of
from harness2_core.plugins.known_settings import CORE
from harness2_core.plugins.loading import blaming
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import PriceSettings
from harness2_core.plugins.starting_config import Section, starting_config
from harness2_core.work.materialise import write_files

from .invocation import Invocation
from .names import adapters
from .terminal import one_line, say, warn

_ABOUT: Final = {
    "run": "What is run, on what, and how much at once.",
    "library": "What later tasks see of what earlier ones had adopted.",
    "roles.executor": "The agent that works on the tasks.",
    "roles.improver": "Who edits the harness.",
    "roles.selector": "Who picks one final, blind; like the improver where nothing is set.",
    "roles.reflector": "Who writes the lessons; like the improver where nothing is set.",
    "prices": "What a model costs, in USD for a million tokens, where that is not known or known better.",
    "roles.judge": "Who grades what was delivered, after the method is done with it.",
}
_PARTS: Final = {"bench": "adapter", "substrate": "substrate"}
"""Keys of `[run]` that the new file sets, as far as it is known what to."""


def init(
    ctx: typer.Context,
    bench: Annotated[
        str, typer.Argument(metavar="BENCH", help="An adapter that ships a benchmark.", autocompletion=adapters)
    ] = "",
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Where to put it.")] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help=f"The file to write, without BENCH; {FILE} by default."),
    ] = None,
) -> None:
    """Write a commented harness2.toml; with BENCH and DIR, a small benchmark to start from. Overwrites nothing."""
    invocation: Invocation = ctx.obj
    registry = invocation.registry()
    if bench:
        if directory is None:
            raise ConfigError(f"`harness2 init {bench}` needs a directory", f"as in `harness2 init {bench} my-{bench}`")
        if to is not None:
            raise ConfigError(f"--to {to}: a benchmark brings a {FILE} of its own", "leave out --to")
        _lay_out(_starter(registry, bench), directory)
        say(f"{directory}: a small benchmark. Try it:")
        for line in (f"cd {directory}", "harness2 run", "harness2 judge --bases", "harness2 report"):
            say(f"  {line}")
        return
    text, to = starting_config(_sections(registry)), to or Path(FILE)
    try:
        with to.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{to} exists", "name another file with --to, or remove it first") from error
    except OSError as error:
        raise StoreError(f"cannot write {to}: {error.strerror}", "name a place that can be written") from error
    say(f"{to}: every setting with its help. Set what you need, then `harness2 check`.")


def _sections(registry: Registry) -> Iterator[Section]:
    active = {key: name for key, kind in _PARTS.items() if (name := _default(registry, kind))}
    for table, cls in CORE.items():
        yield Section(table, _ABOUT[table], fields_of(cls), active if table == "run" else {}, table not in ("run",))
    yield Section('prices."a-model"', _ABOUT["prices"], fields_of(PriceSettings), {}, True)
    for kind in KINDS:
        if kind in ("listener", "command"):
            continue
        for found in registry.catalog.all(kind):
            try:
                summary = registry.provider(kind, found.qualified).summary
                settings = registry.settings_class(kind, found.qualified)
            except Harness2Error as error:  # a broken plugin has no settings to tell, and is no reason to stop
                warn(f"note: left out: {one_line(error.what)}")
                continue
            if settings is not None:
                used = found.name == active.get("bench") and kind == "adapter"
                about = f"The {kind} {found.name}: {summary}"
                yield Section(f"{plural(kind)}.{found.name}", about, fields_of(settings), {}, not used)


def _default(registry: Registry, kind: str) -> str:
    try:
        return registry.default(kind)
    except Harness2Error:  # none is installed, or several: the person chooses
        return ""


def _starter(registry: Registry, bench: str) -> Mapping[str, str]:
    found, factory = registry.find("adapter", bench), registry.factory("adapter", bench)
    if not isinstance(factory, ShipsStarter):
        raise ConfigError(f"{found} ships no benchmark to start from", "see the README of its distribution")
    with blaming(found, "its `starter`"):
        return dict(factory.starter())


def _lay_out(files: Mapping[str, str], directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(f"{directory} exists and is not empty", "name a directory that does not exist")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_files({path: text.encode() for path, text in files.items()}, directory)
    except OSError as error:
        raise StoreError(
            f"cannot write into {directory}: {error.strerror}", "name a place that can be written"
        ) from error
