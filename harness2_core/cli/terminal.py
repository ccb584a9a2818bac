"""What reaches the terminal: texts that models, files or plugins wrote never act on it.

A control character could move the cursor, retitle the window, or hide what a command printed; direction marks reorder
what is read. `safe` shows them as escapes. Everything that prints foreign text goes through `say` or `warn`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, TextIO

_ACTING: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]"
)


def safe(text: str) -> str:
    """`text` with every character that acts on a terminal shown as an escape; line feeds and tabs stay."""
    return _ACTING.sub(lambda found: _escape(found.group()), text)


def one_line(text: str) -> str:
    """`safe` text on one line, for tables."""
    return " ".join(safe(text).split())


def say(text: str = "") -> None:
    """A line on standard output. A reader who has left, as `head` does, stops no command."""
    try:
        print(safe(text), flush=True)
    except BrokenPipeError:
        abandon(sys.stdout)


def warn(text: str) -> None:
    """A line on standard error. A sweep goes on when nobody can be told any more."""
    with suppress(OSError):
        print(safe(text), file=sys.stderr, flush=True)


def say_json(value: object) -> None:
    """`value` as indented JSON; escapes keep it harmless and the same on every terminal."""
    import json  # here: help and lists for people need none

    say(json.dumps(value, indent=2, ensure_ascii=True))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their heads, two spaces apart."""
    lines = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def pairs(values: Mapping[str, str]) -> str:
    """`name  value` lines, aligned."""
    width = max(map(len, values), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in values.items())


def steady_streams() -> None:
    """A terminal that cannot show a character gets an escape, not an error in the middle of a command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def abandon(stream: TextIO) -> None:
    """The reader of a stream is gone: nothing more is written to it, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
