"""The text of a `harness2.toml` to begin with: every setting there is, at its default, with its help, commented out.

Made from the settings classes, so that it can never fall behind them. Active are only the names of the parts in use.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from .fields import SettingField

WIDTH: Final = 100
"""Columns of comments."""

HEAD: Final = """\
# Harness2. Lines that begin with '#' are comments; each setting stands here at its default.
# What is set: `harness2 config show`. Is everything there: `harness2 check`.
# A variable HARNESS2_<TABLE>__<KEY> overrides this file, an option `-o table.key=value` overrides both.
"""


@frozen
class Section:
    """One table. `active` holds the values to begin with (key -> text); an `optional` table is commented out whole."""

    table: str
    about: str
    fields: tuple[SettingField, ...]
    active: Mapping[str, str] = {}
    optional: bool = False


def starting_config(sections: Iterable[Section]) -> str:
    """The file's text."""
    return "\n".join([HEAD, *("\n".join(_lines(section)) + "\n" for section in sections)])


def _lines(section: Section) -> Iterator[str]:
    yield from _comment(section.about)
    yield f"{'# ' if section.optional else ''}[{section.table}]"
    for field in section.fields:
        given = section.active.get(field.name)
        yield ""
        yield from _comment(field.help + (" Required." if field.required else ""))
        if given is not None:
            yield f"{field.name} = {json.dumps(given, ensure_ascii=False)}"
        else:
            yield f"# {field.name} = {_value(field)}"


def _value(field: SettingField) -> str:
    """The default as TOML; where there is none, what to give, in pointed brackets that no TOML has."""
    value = field.default
    if field.required or value is None or field.secret:
        return f"<{field.expected}>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple | list):
        return json.dumps([str(item) for item in value], ensure_ascii=False)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(str(key))} = {json.dumps(str(item))}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False)
    return f"<{field.expected}>"


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(" ".join(text.split()), WIDTH - 2):
        yield f"# {line}"
