"""Canonical JSON and digests: one byte string per value, on every system.

Keys sorted by code point, no spaces, UTF-8 without escapes; strings, integers, booleans, null, lists and mappings
only. Floats are refused: they print differently across languages, so amounts are decimal strings and times are
integer milliseconds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from .errors import InvalidValue

Digest: TypeAlias = str
"""64 lower-case hexadecimal digits of a SHA-256."""

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_LEAVES: Final = frozenset({str, int, bool, type(None)})
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def canonical(value: Json) -> bytes:
    """The canonical JSON of `value`; `InvalidValue` names the place of anything that has none."""
    plain = value if _is_plain(value) else _checked(value, "$")
    try:
        return _ENCODER.encode(plain).encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(
            f"text with an unpaired surrogate has no canonical JSON: {error.object[error.start : error.end]!r}",
            "decode bytes with errors='replace' before they become part of a value",
        ) from error


def encodable(text: str) -> str:
    """`text` with unpaired surrogates replaced by U+FFFD: an escape in somebody's JSON can bring them, UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _is_plain(value: object) -> bool:
    """Whether `value` consists of just the types that `json` and canonical JSON share: what most values do."""
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) is not str or not (type(item) in _LEAVES or _is_plain(item)):
                return False
        return True
    if isinstance(value, list | tuple):
        return all(type(item) in _LEAVES or _is_plain(item) for item in value)
    return type(value) in _LEAVES


def _checked(value: object, where: str) -> object:
    """`value` with dicts for mappings, which is what `json` knows."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidValue(f"{where}: the key {key!r} is not a string", "use string keys")
        return {key: _checked(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise InvalidValue(
        f"{where}: {type(value).__name__} has no canonical JSON",
        "use strings (decimal strings for amounts) and integers (milliseconds, bytes)",
    )
