"""Writes the manual page `docs/harness2.1` from core's commands; core's wheel brings it to `share/man/man1`.

    python tools/man_page.py            writes the page
    python tools/man_page.py --check    says whether it is up to date; exit code 1 if it is not

`man docs/harness2.1` shows it. Commands that plugins add are not in it: it is part of core alone.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from commands_page import ALIKE
from written_page import write

from harness2_core import __version__
from harness2_core.cli import main as program
from harness2_core.cli.run_options import FLAGS
from harness2_core.model import exits

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "harness2.1"

HEAD: Final = """\
.\\" Written by `python tools/man_page.py` from the commands. Change those, and run it again.
.TH HARNESS2 1 "" "harness2-core {version}" "User Commands"
.SH NAME
harness2 \\- improve the harness around a frozen model for the task at hand, without any grade
.SH SYNOPSIS
.B harness2
.RI [ options ]
.I command
.RI [ arguments ]
.SH DESCRIPTION
An agent is a frozen model inside a harness: prompts, memory, skills, sub\\-agents, scripts, hooks.
Harness2 runs a task a few times, lets an improver edit the harness in two directions, runs the edits, composes a final
harness from what was seen, picks a final blind, and keeps the adopted harness and one lesson for later tasks of the
domain.
Benchmarks, agents, improvers, modes, selectors, judges, stores, engines and sandboxes are plugins;
.B harness2 plugins list
shows those that are installed.
.PP
Before the command stand
.BI \\-\\-config " FILE" \\fR,
.BI \\-\\-disable\\-plugin " NAME" \\fR,
.B \\-\\-debug
and
.BR \\-\\-version .
"""

REST: Final = """\
.SH ENVIRONMENT
.TP
.B HARNESS2_<TABLE>__<KEY>
Any setting: HARNESS2_RUN__K=2 is k = 2 in the table [run].
.TP
.B HARNESS2_CONFIG
The configuration file, when \\-\\-config names none.
.TP
.B HARNESS2_DISABLE_PLUGINS
Plugins that are never imported, as a comma list.
.SH FILES
.TP
.I harness2.toml
What is run, with whom: the nearest one in the working directory and above it.
.TP
.I runs/
The store, readable copies, history and the library, beside the configuration unless it is named.
"""


def page() -> str:
    """The whole page."""
    root = program._root()
    lines = [HEAD.format(version=__version__), ".SH COMMANDS"]
    for name in program.COMMANDS:
        lines += _command(f"harness2 {name}", root.get_command(None, name))
    lines += [".SH OPTIONS OF EVERY COMMAND ABOUT AN EXPERIMENT"]
    lines += _option("-o TABLE.KEY=VALUE", "Set any key of the configuration. Repeatable.")
    for flag in FLAGS:
        lines += _option(f"--{flag.name}" if flag.switch else f"--{flag.name} {flag.metavar}", flag.help)
    lines += [".SH EXIT STATUS", *(line for code, said in _codes() for line in _option(str(code), said))]
    return "\n".join([*lines, REST])


def _command(title: str, command: Any) -> Iterator[str]:
    parts = getattr(command, "commands", {})
    yield f'.SS "{_plain(title)}"'
    yield _text(command.help or program.COMMANDS[title.split()[-1]].summary)
    if not parts:
        options = {name for item in command.params for name in item.opts}
        left_out = frozenset(ALIKE.values()) if options >= ALIKE.keys() else frozenset()
        for item in command.params:
            if item.name not in left_out:
                yield from _option(_names(item), item.help or "")
    for name, part in parts.items():
        yield from _command(f"{title} {name}", part)


def _names(item: Any) -> str:
    if item.param_type_name == "argument":
        return item.name.upper() if item.required else f"[{item.name.upper()}]"
    value = "" if item.is_flag or item.count else f" {item.metavar or 'VALUE'}"
    return ", ".join(f"{name}{value}" for name in (*item.opts, *item.secondary_opts))


def _option(names: str, meaning: str) -> Iterator[str]:
    yield from (".TP", f".B {_plain(names)}", _text(meaning))


def _codes() -> Iterator[tuple[int, str]]:
    """Each code and what is said of it, from the table."""
    found = re.findall(r'^\w+: Final = (\d+)\n"""(.+)"""$', inspect.getsource(exits), re.MULTILINE)
    return ((int(code), said) for code, said in found)


def _text(said: str) -> str:
    """A paragraph: code in it is bold, and no line of it is taken for a request."""
    parts = _plain(re.sub(r"\s+", " ", said).strip()).split("`")
    return "\\&" + "".join(f"\\fB{part}\\fR" if number % 2 else part for number, part in enumerate(parts))


def _plain(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
