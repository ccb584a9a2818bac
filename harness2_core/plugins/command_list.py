"""Which commands plugins add, for `--help` and completion, where every millisecond is waited for.

Reads the files that `discovery` reads through `importlib.metadata`, whose import alone takes longer than all of this.
Only what lies in directories of `sys.path` is seen; where anything else is found, the answer is `discovery`'s.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .discovery import Found, newest, normal, read_entry, scan


class _Line(NamedTuple):
    """One entry point, as its file has it."""

    group: str
    name: str
    value: str


def installed_commands(path: Sequence[str] | None = None) -> tuple[Found, ...]:
    """The `command` entries of all distributions on `path`, by default `sys.path`; sorted by name."""
    folders = list(sys.path if path is None else path)
    try:
        found = tuple(newest(list(_found(folders))))
    except (OSError, ValueError, UnicodeError):  # something odd lies there: whoever reads it properly shall tell
        found = tuple(item for item in scan(folders).found if item.kind == "command")
    return tuple(sorted(found, key=lambda item: (item.name, item.distribution)))


def _found(folders: Sequence[str]) -> Iterator[Found]:
    seen: set[str] = set()
    for folder in folders:
        place = Path(folder or os.curdir)
        if place.is_file():
            raise ValueError(f"{place} is an archive")
        if not place.is_dir():
            continue
        for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
            if not entry.name.endswith((".dist-info", ".egg-info")) or not entry.is_dir():
                continue
            points = Path(entry.path, "entry_points.txt")
            text = points.read_text(encoding="utf-8") if points.exists() else ""
            if "harness2.v" not in text:
                continue
            name, version = _stated(Path(entry.path))
            if normal(name) in seen:  # one that comes earlier on the path shadows it
                continue
            seen.add(normal(name))
            for line in _lines(text):
                read = read_entry(line, name, version, ())
                if isinstance(read, Found) and read.kind == "command":
                    yield read


def _stated(directory: Path) -> tuple[str, str]:
    """Name and version; `ValueError` when the metadata does not tell."""
    file = directory / ("METADATA" if directory.name.endswith(".dist-info") else "PKG-INFO")
    values: dict[str, str] = {}
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():  # the headers end here
                break
            key, colon, value = line.partition(":")
            if colon and not line.startswith((" ", "\t")):
                values.setdefault(key.lower(), value.strip())
    if not values.get("name") or not values.get("version"):
        raise ValueError(f"{file} states no name and version")
    return values["name"], values["version"]


def _lines(text: str) -> Iterator[_Line]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals:
                raise ValueError(f"no entry point: {line!r}")
            yield _Line(group, name.strip(), value.strip())
