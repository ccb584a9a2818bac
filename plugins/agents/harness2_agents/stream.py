"""Event streams of agents: JSON objects, one a line, as they really arrive.

Chunks may be cut anywhere, also inside a character; lines may be of any length, end in CRLF, hold NUL or bytes that are
no text, and have words of other programs before, between and behind their objects. Nothing is dropped in silence: what
is no object is kept as a record with its text, and a last line that was cut says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import frozen

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"

_BEGIN: Final = re.compile(r"\{\s*[\"}]")


@frozen
class Record:
    """One object of a stream, or a line (or part of one) that is none: then `value` is `None`.

    `cut` says that the stream ended in the middle of this line.
    """

    value: Mapping[str, Json] | None
    text: str
    cut: bool = False


def records(chunks: Iterable[bytes]) -> Iterator[Record]:
    """The records of a stream, each as soon as its line is complete. Blank lines are none."""
    pending: list[bytes] = []
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield from _line(b"".join((*pending, line)))
            pending.clear()
        if rest:
            pending.append(rest)
    if pending:
        yield from _line(b"".join(pending), last=True)


def value_at(value: Json, *path: str) -> Json:
    """What lies at a path of keys; `None` when anything on the way is missing or no object."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def object_at(value: Json, *path: str) -> Mapping[str, Json]:
    """The object at a path; empty when there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, Mapping) else {}


def list_at(value: Json, *path: str) -> list[Json]:
    """The list at a path; empty when there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else []


def text_at(value: Json, *path: str) -> str:
    """The text at a path; empty when there is none. What is there and is no text is given as JSON."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else "" if found is None else as_text(found)


def count_at(value: Json, *path: str) -> int:
    """The whole number at a path that counts something; 0 when there is none, or one that cannot be a count."""
    found = value_at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < 2**63:
        return 0
    return int(found)


def as_text(value: Json) -> str:
    """A value as JSON, with its characters as they are; texts as themselves."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(data: bytes, *, last: bool = False) -> Iterator[Record]:
    # Removed, not replaced: a raw NUL is in no JSON, and where it was written it stands for nothing.
    text = data.replace(b"\x00", b"").decode("utf-8", "replace").strip("\r\ufeff")
    junk = 0
    while (begin := _BEGIN.search(text, junk)) is not None:
        found = _object(text, begin.start())
        if found is None:
            break  # an object that was cut, or written into: what lies inside it is no record of the stream
        value, end = found
        yield from _junk(text[junk : begin.start()])
        yield Record(value, text[begin.start() : end])
        junk = end
    yield from _junk(text[junk:], cut=last)


def _object(text: str, begin: int) -> tuple[Mapping[str, Json], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or nested beyond all reason
        return None
    return (value, end) if isinstance(value, dict) else None


def _junk(text: str, *, cut: bool = False) -> Iterator[Record]:
    if text.strip():
        yield Record(None, text, cut)


_DECODER: Final = json.JSONDecoder()
