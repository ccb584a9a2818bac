"""Names on disk: ids escaped one way and back, long ones shortened with a digest.

`a/b` and `a__b` stay two names, `..` is no parent directory, and a name fits any file system.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from .canonical import digest_bytes
from .errors import InvalidValue
from .paths import is_device

LONGEST: Final = 120
"""Bytes of an escaped name before it is shortened; leaves room for suffixes within 255."""

_ODD: Final = re.compile(r"[^A-Za-z0-9_.\-]")
_SHORTENED: Final = "%-"
"""Stands before the digest of a shortened name. No escaped name holds it: there, hexadecimal digits follow a `%`."""
_KEPT: Final = 16


def escape(text: str) -> str:
    """A file name for any text: every byte outside `[A-Za-z0-9_.-]` becomes `%XX`. `unescape` inverts it."""
    if not text:
        return "%"
    name = _ODD.sub(lambda found: _percent(found.group()), text)
    if name.endswith("."):
        name = name[:-1] + _percent(".")
    if name.startswith(".") or is_device(name):
        name = _percent(name[0]) + name[1:]
    return name


def unescape(name: str) -> str:
    """The text that `escape` was given; `InvalidValue` for any name that it does not make."""
    try:
        text = "" if name == "%" else unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        text = None
    if text is None or escape(text) != name:
        raise InvalidValue(f"{name!r} is no escaped name", "rename it, or leave files of other programs elsewhere")
    return text


def file_name(text: str) -> str:
    """`escape`, shortened to at most `LONGEST` bytes with 16 digits of a digest; a shortened name does not invert."""
    name = escape(text)
    if len(name) <= LONGEST:
        return name
    head = re.sub(r"%[0-9A-F]?\Z", "", name[: LONGEST - len(_SHORTENED) - _KEPT])
    return f"{head}{_SHORTENED}{digest_bytes(text.encode(errors='surrogatepass'))[:_KEPT]}"


@lru_cache(256)
def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="surrogatepass"))
