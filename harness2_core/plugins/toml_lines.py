"""On which line of a TOML file a key stands: the standard parser does not say.

The file is cut into statements, each the shortest run of lines that parses alone (a header, or a key with a value that
may span lines); the parser itself then tells which keys the statement sets. So no grammar is written twice.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Keys: TypeAlias = tuple[str, ...]


def lines_of(text: str) -> dict[Keys, int]:
    """Key path -> line, counted from 1, of every table and key in a TOML document that parses."""
    lines: dict[Keys, int] = {}
    table: Keys = ()
    for number, statement in _statements(text):
        paths = [path for path in _paths(tomllib.loads(statement)) if path]
        if statement.lstrip().startswith("["):
            table = max(paths, key=len)
            lines.setdefault(table, number)
        else:
            for path in paths:
                lines.setdefault(table + path, number)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """(first line, statement) for everything that is neither blank nor a comment."""
    begun, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):  # TOML's only line end; `splitlines` knows more of them
        if not begun and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = start if begun else number
        begun += line + "\n"
        try:
            tomllib.loads(begun)
        except tomllib.TOMLDecodeError:
            continue  # a value that goes on in the next line
        yield start, begun
        begun = ""


def _paths(value: object, prefix: Keys = ()) -> Iterator[Keys]:
    """Every key path in parsed data, tables included; an array of tables counts as the table in it."""
    yield prefix
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _paths(item, (*prefix, key))
