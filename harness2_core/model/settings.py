"""What a settings class may say about its fields, beyond types and defaults.

A settings class is an attrs class whose fields have defaults where a default makes sense; a docstring under a field
(or `metadata={"help": ...}`) explains it. Types: str, int, bool, Path, tuples of str, and mappings of str to str or
Path. Relative paths are taken from the directory of the file that names them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import attrs

KEY: Final = "harness2"
CONTENT: Final = "content"
PLACE: Final = "place"


def content(**options: Any) -> Any:
    """A `Path` (or a mapping of them) whose *content* matters: digested into requests, brought along by the store."""
    return attrs.field(metadata={KEY: CONTENT, **options.pop("metadata", {})}, **options)


def place(**options: Any) -> Any:
    """Where something is on this machine: no part of any identity. `Path` fields are so by default."""
    return attrs.field(metadata={KEY: PLACE, **options.pop("metadata", {})}, **options)


def is_content(field: attrs.Attribute[Any]) -> bool:
    return field.metadata.get(KEY) == CONTENT


def is_place(field: attrs.Attribute[Any]) -> bool:
    """Marked so, or a plain `Path`."""
    mark = field.metadata.get(KEY)
    return mark == PLACE or (mark is None and field.type in (Path, "Path", Path | None, "Path | None"))
