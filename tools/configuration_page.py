"""Writes `docs/configuration.md` from the settings classes of core and of the plugins in this checkout.

    python tools/configuration_page.py            writes the page
    python tools/configuration_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
from written_page import write

from harness2_core.cli.run_options import FLAGS
from harness2_core.model.kinds import KINDS, plural
from harness2_core.plugins.discovery import normal
from harness2_core.plugins.fields import SettingField, fields_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import ROLES, LibrarySettings, PriceSettings, RoleSettings, RunSettings

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "configuration.md"

HEAD = """\
# Configuration

<!-- Written by `python tools/configuration_page.py` from the settings classes. Change those, and run it again. -->

A run is described by one file, `harness2.toml`: the one that `--config` or the variable `HARNESS2_CONFIG` names, else
the nearest one in the working directory and above it. Three layers, each overriding the one before key by key:

1. the file: `k = 2` in the table `[run]`;
2. variables: `HARNESS2_RUN__K=2`, for any table `HARNESS2_<TABLE>__<KEY>`, in upper case, parts joined by `__`;
3. options: `-o run.k=2` for any key, and a flag of its own for the common ones: `--k 2`.

In variables and options a list is comma separated. A relative path is taken from the directory of the file that names
it, in variables and options from the working directory; the runs directory lies beside the file unless it is named. A
table or key that does not exist is an error that names the nearest one: a misspelt limit is never no limit.

What results depend on is part of the experiment's or the request's identity: see
[resume and budgets](resume-and-budgets.md).
"""

VARIABLES = """\
## Variables

| variable | meaning |
| --- | --- |
| `HARNESS2_<TABLE>__<KEY>` | a setting, as above: `HARNESS2_ADAPTERS__TASKS__PATH=mytasks` |
| `HARNESS2_CONFIG` | the configuration file, when `--config` names none |
| `HARNESS2_DISABLE_PLUGINS` | plugins that are never imported, as a comma list |

Keys of models stand in no file: the channel option `key_variable` names the variable that holds one.
"""

DEFAULTS = """\
## Defaults of the bundle

Where the configuration names no provider of a kind, the bundle `harness2` says which one is used. Without a bundle it
is the only one installed, and several are an error that lists them.
"""


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        _section("`[run]`", RunSettings),
        _section(
            "`[roles.<role>]`",
            RoleSettings,
            f"One table a role: {', '.join(f'`{role}`' for role in ROLES)}. The executor's provider is the substrate. "
            "Selector and reflector take from the improver what is not said of them, unless they name "
            "another provider.",
        ),
        _section(
            "`[prices.<model>]`",
            PriceSettings,
            "What a model costs, in USD for a million tokens; the name is the one that roles give, in quotes where it "
            'has a dot or a slash: `[prices."qwen2.5"]`. It goes before what agents, gateways and price lists say, for '
            "all roles, and for all tokens of a rollout or session on that model. `0` is a price too: that of a model "
            "of your own. Prices are no part of any identity.",
        ),
        _section("`[library]`", LibrarySettings),
        *(_section(f"`[{table}]`", cls, said) for table, cls, said in _providers()),
        _defaults(),
        _options(),
        VARIABLES,
    ]
    return "\n".join(parts)


def shipped() -> Mapping[str, str]:
    """Distributions of this checkout, by their name as indexes compare it -> folder."""
    found = {}
    for file in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        name = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"]
        found[normal(name)] = file.parent.name
    return found


def _providers() -> Iterator[tuple[str, type, str]]:
    """(table, settings class, what it is) of every provider of this checkout that has settings."""
    registry, folders = Registry.installed(), shipped()
    for kind in KINDS:
        for found in registry.catalog.all(kind):
            folder = folders.get(normal(found.distribution))
            if folder is None or kind == "listener":
                continue
            cls = registry.settings_class(kind, found.name)
            if cls is not None:
                summary = registry.provider(kind, found.name).summary
                where = f"[`{found.distribution}`](../plugins/{folder}/README.md)"
                yield f"{plural(kind)}.{found.name}", cls, f"The {kind} `{found.name}` of {where}: {summary}."


def _section(title: str, cls: type, said: str = "") -> str:
    lines = [
        f"## {title}",
        "",
        *([cell(said), ""] if said else []),
        "| key | type | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{field.name}` | {_type(field)} | {_default(field)} | {cell(field.help)} |" for field in fields_of(cls)
    ]
    return "\n".join(lines) + "\n"


def _type(field: SettingField) -> str:
    if field.choices:
        return " or ".join(f"`{choice}`" for choice in field.choices)
    names = {"text": "text", "integer": "integer", "switch": "true or false", "path": "path", "texts": "list of texts"}
    names |= {"paths": "list of paths", "text table": "table of texts", "path table": "table of paths"}
    return "number" if field.amount else names[field.form]


def _default(field: SettingField) -> str:
    value = field.default
    if field.required or value is attrs.NOTHING:
        return "must be given"
    if value is None or value == "" or value == ():
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Mapping):
        return ""
    return f"`{value}`" if isinstance(value, int) else f'`"{value}"`'


def cell(text: str) -> str:
    """Text in a cell or a paragraph: an angle bracket outside code would be taken for HTML."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def _defaults() -> str:
    registry = Registry.installed()
    rows = []
    for kind in KINDS:
        if kind not in ("command", "listener"):
            name = registry.default(kind)
            found = registry.find(kind, name)
            rows.append(f"| {kind} | `{name}` | `{found.distribution}` |")
    return "\n".join([DEFAULTS, "| kind | default | from |", "| --- | --- | --- |", *rows]) + "\n"


def _options() -> str:
    lines = [
        "## Options",
        "",
        "Of every command that is about an experiment. `-o TABLE.KEY=VALUE` sets any key and may be repeated.",
        "",
        "| option | key | meaning |",
        "| --- | --- | --- |",
    ]
    for flag in FLAGS:
        keys = ", ".join(f"`{key}`" for key in flag.keys)
        written = f"--{flag.name}" if flag.switch else f"--{flag.name} {flag.metavar}"
        lines.append(f"| `{written}` | {keys} | {cell(flag.help)} |")
    return "\n".join(lines) + "\n"


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
