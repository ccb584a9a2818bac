"""Pages of `docs/` that programs write. Each program has the page's path and the function that makes its text.

    python tools/written_page.py            writes all of them, and the drawings
    python tools/written_page.py --check    says which are out of date; exit code 1 if any is

Needs core and the plugins of this checkout installed: `make demo` does that. A single page is written by its own
program, as `python tools/commands_page.py`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PROGRAMS: Final = (
    "commands_page",
    "configuration_page",
    "hooks_page",
    "man_page",
    "records_page",
    "scaffold_page",
    "shipped_page",
    "testing_page",
    "plan_drawing",
    "timeline_drawing",
)
"""Modules with `FILES`: path -> the function that makes its text."""

Files = Mapping[Path, Callable[[], str]]


def write(files: Files, arguments: Sequence[str]) -> int:
    """Writes what differs; with `--check`, only says so. The exit code."""
    stale = 0
    for path, made in files.items():
        wanted, current = made(), path.read_text(encoding="utf-8") if path.exists() else ""
        if wanted == current:
            continue
        stale = 1
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)} is out of date: run python tools/written_page.py", file=sys.stderr)
        else:
            path.write_text(wanted, encoding="utf-8")
    return stale if "--check" in arguments else 0


def all_files() -> Files:
    """Every file that a program writes."""
    found: dict[Path, Callable[[], str]] = {}
    for name in PROGRAMS:
        found |= importlib.import_module(name).FILES
    return found


if __name__ == "__main__":
    sys.exit(write(all_files(), sys.argv[1:]))
