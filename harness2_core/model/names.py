"""Names on disk: ids escaped one way and back, long ones shortened with a digest.

`a/b` and `a__b` stay two names, `..` is no parent directory, and a name fits any file system.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from .canonical import digest_bytes
from .paths import unportable

LONGEST: Final = 120
"""Bytes of an escaped name before it is shortened; leaves room for suffixes within 255."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.\-]")


def escape(text: str) -> str:
    """A file name for any text: every byte outside `[A-Za-z0-9_.-]` becomes `%XX`. `unescape` inverts it."""
    if not text:
        return "%"
    name = "".join(_percent(c) if not _PLAIN.fullmatch(c) else c for c in text)
    if name.endswith("."):
        name = name[:-1] + _percent(".")
    if name.startswith(".") or unportable(name):  # hidden, or a device name such as `con`
        name = _percent(name[0]) + name[1:]
    return name


def unescape(name: str) -> str:
    """The text that `escape` was given."""
    return "" if name == "%" else unquote(name, errors="strict")


def file_name(text: str) -> str:
    """`escape`, shortened to at most `LONGEST` bytes with 16 digits of a digest; a shortened name does not invert."""
    name = escape(text)
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 18].rstrip('.%')}--{digest_bytes(text.encode())[:16]}"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
