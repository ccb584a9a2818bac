"""`harness2 config`: what is configured and by whom, and setting a value without disturbing the file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from attrs import asdict

from harness2_core.model.errors import ConfigError
from harness2_core.model.exits import DONE, NOT_DONE
from harness2_core.plugins.config import FILE, Config, option_keys
from harness2_core.plugins.config_edit import toml_value, with_value
from harness2_core.plugins.fields import fields_of
from harness2_core.plugins.known_settings import settings_class, split_keys, value_of, values
from harness2_core.plugins.provider_settings import check_tables
from harness2_core.sweep.files import write_whole

from .invocation import Invocation
from .names import settings
from .terminal import say, say_json, table, warn

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

_Key = Annotated[str, typer.Argument(metavar="TABLE.KEY", help="A setting, such as run.k.", autocompletion=settings)]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Also what is at its default.")] = False,
    as_json: _AsJson = False,
) -> None:
    """Show what is configured, and where each value comes from. Secrets are hidden."""
    invocation: Invocation = ctx.obj
    config = invocation.config()
    found = values(config, invocation.registry(), defaults=every)
    if as_json:
        say_json([asdict(value) for value in found])
        return
    say(f"file: {config.file or 'none'}")
    rows = [(value.key, value.shown, _from(config, value.origin)) for value in found]
    say(table(("setting", "value", "from"), rows) if rows else "nothing is configured: everything is at its default")


@app.command()
def get(ctx: typer.Context, key: _Key, as_json: _AsJson = False) -> None:
    """Print one value; where it comes from goes to standard error."""
    invocation: Invocation = ctx.obj
    found = value_of(invocation.config(), invocation.registry(), key, option_keys(key))
    if as_json:
        say_json(asdict(found))
        return
    say(found.shown[1:-1] if found.shown.startswith('"') else found.shown)
    warn(f"from {found.origin or 'the default'}")


@app.command("set")
def set_value(
    ctx: typer.Context,
    key: _Key,
    value: Annotated[str, typer.Argument(help="Its value; lists with commas.")],
) -> None:
    """Set one value in the configuration file, which keeps its comments and order. What is wrong is not written."""
    invocation: Invocation = ctx.obj
    keys, registry, config = option_keys(key), invocation.registry(), invocation.config()
    name, rest = split_keys(keys)
    cls = settings_class(registry, name)
    if cls is None:
        raise ConfigError(f"[{name}] has no settings", "leave the table out")
    trial = Config.load(config.file, {}, {key: value}) if config.file else Config.load(None, {}, {key: value})
    trial.structure(name, cls)
    check_tables(registry, trial)
    field = next((field for field in fields_of(cls) if field.name == rest[0]), None)
    file = (config.file or Path.cwd() / FILE).resolve()
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    write_whole(file, with_value(before, keys, toml_value(field, value), str(file)).encode(), keep_mode=True)
    now = value_of(invocation.config(), registry, key, keys)
    say(f"{key} = {now.shown}  ({now.origin})")
    if not now.origin.startswith(str(config.file or file)):
        warn(f"it was written to {file}, and {now.origin} overrides it")


@app.command()
def path(ctx: typer.Context) -> int:
    """Print which file is in use. Exit code 1: none."""
    invocation: Invocation = ctx.obj
    file = invocation.config().file
    if file is None:
        warn(f"no {FILE} here or above; `harness2 init` makes one")
        return NOT_DONE
    say(str(file))
    return DONE


def _from(config: Config, origin: str) -> str:
    """Shorter where it is the file in use."""
    if config.file is not None and origin.startswith(f"{config.file}:"):
        return f"line {origin.removeprefix(f'{config.file}:')}"
    return origin or "default"
