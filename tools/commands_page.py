"""Writes `docs/commands.md` from the commands themselves: core's, and those of the plugins in this checkout.

    python tools/commands_page.py            writes the page
    python tools/commands_page.py --check    says whether it is up to date; exit code 1 if it is not

Options that every command about an experiment has stand in `docs/configuration.md`, and are left out here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from configuration_page import cell, shipped
from written_page import write

from harness2_core.cli import main as program
from harness2_core.cli.run_options import FLAGS
from harness2_core.plugins.discovery import normal
from harness2_core.plugins.registry import Registry

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "commands.md"
ALIKE: Final = {f"--{flag.name}": f"flag_{flag.name.replace('-', '_')}" for flag in FLAGS} | {"-o": "option_texts"}
"""Options that such commands have, and what the commands call their values: one of the same name may be its own."""

HEAD: Final = """\
# Commands

<!-- Written by `python tools/commands_page.py` from the commands. Change those, and run it again. -->

`harness2 COMMAND --help` says the same, with the options that every command about an experiment has: they are in
[configuration](configuration.md#options). Before the command stand `--config FILE`, `--disable-plugin NAME`, `--debug`
and `--version`. Names of tasks, labels, modes and plugins are completed by the shell.

Exit codes: 0 all done; 1 the configuration, a key or the command line is wrong, or there is nothing to do; 2 some tasks
are not ok; 3 stopped by a budget; 130 and 143 interrupted, with the state saved.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(part for name, command in _commands() for part in _section(f"harness2 {name}", command))])


def _commands() -> Iterator[tuple[str, Any]]:  # the type of a command is private to typer
    root = program._root()
    registry, folders = Registry.installed(), shipped()
    ours = [item.name for item in registry.catalog.all("command") if normal(item.distribution) in folders]
    for name in (*program.COMMANDS, *ours):
        yield name, root.get_command(None, name)


def _section(title: str, command: Any, level: str = "##") -> Iterator[str]:
    parts = getattr(command, "commands", {})
    options = {name for item in getattr(command, "params", ()) for name in item.opts}
    left_out = frozenset(ALIKE.values()) if options >= ALIKE.keys() else frozenset()
    own = [] if parts else [item for item in command.params if item.name not in left_out]
    said = command.help or program.COMMANDS[title.split()[-1]].summary
    lines = [f"{level} `{title}`", "", cell(" ".join(said.split())), ""]
    if own:
        lines += [
            "| argument or option | meaning |",
            "| --- | --- |",
            *(f"| {_written(i)} | {_meaning(i)} |" for i in own),
        ]
        lines.append("")
    yield "\n".join(lines)
    for name, part in parts.items():
        yield from _section(f"{title} {name}", part, "###")


def _written(item: Any) -> str:
    if item.param_type_name == "argument":
        return f"`{item.name.upper()}`" if item.required else f"`[{item.name.upper()}]`"
    value = "" if item.is_flag or item.count else f" {item.metavar or _kind(item)}"
    return " or ".join(f"`{name}{value}`" for name in (*item.opts, *item.secondary_opts)).replace("|", "\\|")


def _kind(item: Any) -> str:
    return "N" if item.type_descriptor.annotation in (int, float) else "TEXT"


def _meaning(item: Any) -> str:
    default = item.default
    told = isinstance(default, str | int | float | Path) and default not in ("", False)
    shown = f" Default: `{default}`." if told else ""
    return cell(f"{item.help or ''}{shown}{' Required.' if item.required and item.opts[0].startswith('-') else ''}")


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
