"""What `discovery.scan` says, sooner: for `--help`, lists and completion, where every millisecond is waited for.

Reads the files that `discovery` reads through `importlib.metadata`, whose import alone takes longer than all of this.
Only what lies in directories of `sys.path` is seen; where anything else is found, the answer is `discovery`'s.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .discovery import Flaw, Found, Scan, is_core, normal, read_entry, scan, scan_of


class _Line(NamedTuple):
    """One entry point, as its file has it."""

    group: str
    name: str
    value: str


class _Stated(NamedTuple):
    """What metadata state of a distribution; `core` are its requirements of harness2-core."""

    name: str
    version: str
    core: tuple[str, ...]


def quick_scan(path: Sequence[str] | None = None, kind: str = "") -> Scan:
    """Everything that distributions on `path` say, by default `sys.path`; with `kind`, at least all of that kind."""
    folders = list(sys.path if path is None else path)
    try:
        return scan_of(list(_read(folders, kind)))
    except (OSError, ValueError, UnicodeError):  # something odd lies there: whoever reads it properly shall tell
        return scan(folders)


def installed_commands(path: Sequence[str] | None = None) -> tuple[Found, ...]:
    """The `command` entries among them, sorted by name."""
    return tuple(found for found in quick_scan(path, "command").found if found.kind == "command")


def _read(folders: Sequence[str], kind: str) -> Iterator[Found | Flaw | None]:
    # Strings and `os` in the place of pathlib: there may be hundreds of directories, and most are none of ours.
    seen: set[str] = set()
    for folder in folders:
        place = folder or os.curdir
        try:
            with os.scandir(place) as entries:
                names = sorted(entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
        except FileNotFoundError:
            continue
        except NotADirectoryError as error:
            raise ValueError(f"{place} is an archive") from error
        for entry in names:
            text, name = _text(f"{place}/{entry}/entry_points.txt"), normal(entry.partition("-")[0])
            if "harness2.v" not in text or kind not in text:
                seen.add(name)
                continue
            if entry.endswith(".egg-info"):
                raise ValueError(f"{entry} keeps its requirements elsewhere")
            stated = _stated(f"{place}/{entry}/METADATA")
            if seen.intersection((name, normal(stated.name))):  # one that comes earlier on the path shadows it
                continue
            seen |= {name, normal(stated.name)}
            for line in dict.fromkeys(_lines(text)):
                yield read_entry(line, stated.name, stated.version, stated.core)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _stated(path: str) -> _Stated:
    """`ValueError` when the metadata do not tell name and version."""
    values: dict[str, str] = {}
    core: list[str] = []
    with open(path, encoding="utf-8") as lines:  # noqa: PTH123
        for line in lines:
            if not line.strip():  # the headers end here
                break
            if line[0] in " \t":
                continue
            key, _, value = line.partition(":")
            key, value = key.lower(), value.strip()
            if key == "requires-dist" and is_core(value):
                core.append(value)
            values.setdefault(key, value)
    if not values.get("name") or not values.get("version"):
        raise ValueError(f"{path} states no name and version")
    return _Stated(values["name"], values["version"], tuple(core))


def _lines(text: str) -> Iterator[_Line]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            if not equals:
                raise ValueError(f"no entry point: {line!r}")
            yield _Line(group, name.strip(), value.strip())
