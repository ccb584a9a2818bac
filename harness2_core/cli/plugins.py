"""`harness2 plugins`: what is installed, one plugin in full, what is wrong, the off switches, and beginning a new one.

`list`, `disable` and `enable` import no plugin; `show` imports the one it shows; `doctor` imports each in a process of
its own. So a broken plugin can always be found and switched off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from harness2_core.model.errors import PluginError
from harness2_core.model.exits import NOT_DONE
from harness2_core.model.kinds import DEFAULTS, KINDS
from harness2_core.plugins.catalog import Catalog, clash, flaw_error, misfit
from harness2_core.plugins.core_version import unmet
from harness2_core.plugins.discovery import Found, scan
from harness2_core.plugins.off_switches import disable as switch_off
from harness2_core.plugins.off_switches import enable as switch_on
from harness2_core.plugins.off_switches import known_name, switches, user_list

from .invocation import Invocation
from .names import plugins
from .scaffold.command import new
from .terminal import pairs, say, say_json, table

if TYPE_CHECKING:
    from harness2_core.plugins.config import Config

app: Final = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="What is installed, what is wrong with it, switching it off, and beginning a new one.",
)
app.command()(new)

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Row: TypeAlias = dict[str, str]


@app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List every installed plugin, usable or not. Imports none."""
    rows = _rows(_catalog(ctx))
    if as_json:
        say_json(rows)
    elif not rows:
        say("no plugin is installed\n  `pip install harness2` brings the default ones")
    else:
        head = ("kind", "name", "token", "distribution", "version", "state")
        say(table([part.upper() for part in head], [[row[part] for part in head] for row in rows]))


@app.command()
def show(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A name, kind.name or distribution:name.", autocompletion=plugins)],
    as_json: AsJson = False,
) -> None:
    """Show one plugin: what it provides, its settings, and where each value comes from. Imports just that one."""
    from harness2_core.plugins.registry import Registry  # here: names are completed without it

    invocation: Invocation = ctx.obj
    catalog = _catalog(ctx)
    found = _one(catalog, name)
    about = _row(catalog, found)
    settings: list[Row] = []
    if about["state"] in ("ok", "clash") and found.kind in KINDS and found.kind != "listener":
        registry = Registry(catalog)
        provider = registry.provider(found.kind, found.qualified)
        about |= {"summary": provider.summary, "factory": provider.factory, "settings class": provider.settings}
        cls = registry.settings_class(found.kind, found.qualified)
        if cls is not None:
            settings = _settings(cls, found, invocation.config())
    if as_json:
        say_json({**about, "settings": settings})
        return
    say(pairs({key: value for key, value in about.items() if value}))
    if settings:
        from harness2_core.model.kinds import plural

        say(f"\nsettings, in the table [{plural(found.kind)}.{found.name}]:")
        for item in settings:
            default = f"default {item['default']}" if item["default"] else "required"
            say(f"\n  {item['name']}: {item['type']}; {default}")
            if item["help"]:
                say(f"    {item['help']}")
            if item["from"]:
                say(f"    is {item['value']} (from {item['from']})")


@app.command()
def doctor(
    ctx: typer.Context,
    limit_seconds: Annotated[float, typer.Option(help="Time that one plugin's import may take.", min=0.1)] = 20.0,
    as_json: AsJson = False,
) -> None:
    """Import each plugin in a process of its own and report what is wrong. Exit code 1 when something does not work."""
    from harness2_core.plugins.doctor import findings

    found = findings(_catalog(ctx), limit_seconds)
    if as_json:
        say_json(
            [
                {
                    "plugin": f.subject,
                    "distribution": f.distribution,
                    "level": f.level,
                    "what": f.what,
                    "remedy": f.remedy,
                }
                for f in found
            ]
        )
    else:
        for item in sorted(found, key=lambda item: item.level == "ok"):
            say(f"{item.level:<7}  {item.subject}  {item.distribution}".rstrip())
            for line in (item.what, item.remedy):
                if line:
                    say(f"         {line}")
        if not found:
            say("no plugin is installed")
    if any(item.level == "error" for item in found):
        raise typer.Exit(NOT_DONE)


@app.command()
def disable(
    name: Annotated[str, typer.Argument(help="A name, kind.name or distribution.", autocompletion=plugins)],
    as_json: AsJson = False,
) -> None:
    """Switch a plugin off for this user: it is never imported again until it is enabled."""
    installed, path = scan(), user_list()
    new = switch_off(name, installed, path)
    covered = [str(found) for found in known_name(name, installed)]
    if as_json:
        say_json({"disabled": name, "changed": new, "covers": covered, "file": str(path)})
        return
    say(f"{'disabled' if new else 'already disabled:'} {name} (kept in {path})")
    for item in covered:
        say(f"  covers {item}")


@app.command()
def enable(name: Annotated[str, typer.Argument(help="As it was disabled.")], as_json: AsJson = False) -> None:
    """Switch a plugin on again that was switched off with `disable`."""
    path = user_list()
    switch_on(name, path)
    left = [switch.origin for switch in switches((), os.environ) if switch.name == name]
    if as_json:
        say_json({"enabled": name, "still_off_by": left, "file": str(path)})
        return
    say(f"enabled {name} (in {path})")
    for origin in left:
        say(f"  it is still switched off by {origin}")


def _catalog(ctx: typer.Context) -> Catalog:
    invocation: Invocation = ctx.obj
    return invocation.catalog()


def _rows(catalog: Catalog) -> list[Row]:
    from harness2_core.plugins.built_in import BUILT_IN

    rows = [_row(catalog, found) for found in (*BUILT_IN, *catalog.scan.found)]
    for flaw in catalog.scan.flaws:
        row = {"kind": "", "name": flaw.entry, "token": "", "module": ""}
        if flaw.found is not None:
            row = {key: getattr(flaw.found, key) for key in row}
        rows.append(
            {
                **row,
                "distribution": flaw.distribution,
                "version": flaw.version,
                "state": "other API version" if flaw.found is not None else "malformed",
                "why": f"{flaw.what}; {flaw.remedy}",
            }
        )
    order = [*KINDS, DEFAULTS, ""]
    return sorted(rows, key=lambda row: (order.index(row["kind"]) if row["kind"] in order else 99, row["name"]))


def _row(catalog: Catalog, found: Found) -> Row:
    state, why = "ok", ""
    switch = catalog.off(found)
    rivals = catalog.rivals(found)
    if switch is not None:
        state, why = "disabled", f"by {switch.origin}"
    elif unmet(found.core):
        state, why = "other core version", str(misfit(found).remedy)
    elif rivals and found.kind != DEFAULTS:
        state, why = "clash", clash(found.kind, found.name, (found, *rivals)).remedy
    named = {key: getattr(found, key) for key in ("kind", "name", "token", "module", "distribution", "version")}
    return {**named, "state": state, "why": why}


def _one(catalog: Catalog, name: str) -> Found:
    """The entry to show. A name of several kinds needs its kind, a name of several distributions its distribution."""
    matching = catalog.named(name)
    if not matching:
        for flaw in catalog.scan.flaws:
            if flaw.found is not None and name in (flaw.found.name, f"{flaw.found.kind}.{flaw.found.name}"):
                raise flaw_error(flaw)
        covered = known_name(name, catalog.scan)  # raises, with near names, for what is not there at all
        forms = ", ".join(f"{found.kind}.{found.name}" for found in covered)
        raise PluginError(f"{name!r} is a distribution, not a plugin", f"it brings {forms or 'no usable plugin'}")
    kinds = sorted({found.kind for found in matching})
    if len(kinds) > 1:
        forms = " or ".join(f"{found.kind}.{found.name}" for found in matching)
        raise PluginError(f"{name!r} is the name of several plugins", f"give {forms}")
    if len(matching) > 1:
        raise clash(kinds[0], matching[0].name, matching)
    return matching[0]


def _settings(cls: type, found: Found, config: Config) -> list[Row]:
    import attrs

    from harness2_core.model.kinds import plural
    from harness2_core.plugins.fields import fields_of
    from harness2_core.plugins.masking import masked

    given = config.given(f"{plural(found.kind)}.{found.name}")
    rows: list[Row] = []
    for field in fields_of(cls):
        own = {keys[1:]: item for keys, item in given.items() if keys[0] == field.name}
        values: Mapping[str, object] = {".".join(keys): item.value for keys, item in own.items()}
        value = values[""] if set(values) == {""} else values
        shown = "" if field.default is attrs.NOTHING else masked(field.name, field.default, secret=field.secret)
        rows.append(
            {
                "name": field.name,
                "type": field.expected.removeprefix("a ").removeprefix("an ") + (" or none" if field.optional else ""),
                "default": "" if field.required else shown or "(made when used)",
                "help": field.help,
                "value": masked(field.name, value, secret=field.secret) if own else "",
                "from": ", ".join(dict.fromkeys(item.origin.where for item in own.values())),
            }
        )
    return rows
