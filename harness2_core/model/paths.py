"""Relative POSIX paths: what is safe to write below a directory, on every system.

`unsafe` is about escape and suits any file a task may bring; `unportable` adds what breaks on other systems and
suits trees that travel. Both return problems in words, so that a caller can report all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_RESERVED: Final = frozenset(
    [
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"),
    ]
)
_CONTROL: Final = re.compile(
    r"[\x00-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ufeff]"
)
_FORBIDDEN: Final = frozenset('<>:"|?*\\')
_PLAIN: Final = re.compile(r"[\w-][\w.-]{0,99}(?:/[\w-][\w.-]{0,99}){0,9}", re.ASCII)
"""Most paths: safe, as everything below would find, and seen to be so at once."""
SEGMENT_BYTES: Final = 255
PATH_BYTES: Final = 1024


def unsafe(path: str) -> tuple[str, ...]:
    """Why `path` may leave its directory or cannot be written at all; empty when it is safe."""
    return _unsafe(path)


def unportable(path: str) -> tuple[str, ...]:
    """As `unsafe`, and what other systems cannot hold: device names, forbidden characters, other Unicode forms."""
    problems = list(unsafe(path))
    if _CONTROL.search(path.replace("\x00", "")):
        problems.append(f"{path!r} contains control or direction characters")
    bad = sorted(_FORBIDDEN.intersection(path))
    if bad:
        problems.append(f"{path!r} contains {' '.join(bad)}, which other systems forbid")
    if unicodedata.normalize("NFC", path) != path:
        problems.append(f"{path!r} is not in Unicode form NFC; rename it")
    for segment in path.split("/"):
        if is_device(segment):
            problems.append(f"{path!r} uses the reserved device name {segment!r}; rename it")
        if segment not in ("", ".", "..") and segment != segment.rstrip(" ."):
            problems.append(f"{path!r} has a name that ends in a space or dot; rename it")
    return tuple(problems)


def parents(path: str) -> tuple[str, ...]:
    """The directories above `path`, outermost first."""
    segments = path.split("/")
    return tuple("/".join(segments[:end]) for end in range(1, len(segments)))


def is_device(name: str) -> bool:
    """Whether a file of this name would be a device on Windows, whatever its suffix."""
    return name.split(".")[0].rstrip(" ").lower() in _RESERVED


def has_controls(text: str) -> bool:
    """Whether `text` holds characters that move a cursor, turn the reading direction, or end a line."""
    return _CONTROL.search(text) is not None


def folded(path: str) -> str:
    """The same for all paths that are one on a system that folds case and Unicode forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def collisions(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths that become one file on a system that folds case, and files that are also directories."""
    problems: list[str] = []
    seen: dict[str, str] = {}
    files = sorted(paths)
    for path in files:
        segments = path.split("/")
        for end in range(1, len(segments) + 1):
            prefix = "/".join(segments[:end])
            other = seen.setdefault(folded(prefix), prefix)
            if other != prefix:
                problems.append(f"{other!r} and {prefix!r} are one name where case does not count; rename one")
    known = set(files)
    for path in files:
        for parent in parents(path):
            if parent in known:
                problems.append(f"{parent!r} is a file and also the directory of {path!r}; rename one")
    return tuple(dict.fromkeys(problems))


@lru_cache(2048)  # the same names come again and again: one task's rollouts leave the same files
def _unsafe(path: str) -> tuple[str, ...]:
    if _PLAIN.fullmatch(path):
        return ()
    problems = []
    if not path:
        return ("an empty path names no file",)
    if "\x00" in path:
        problems.append(f"{path!r} contains a NUL byte")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        problems.append(f"{path!r} is absolute; give it relative to the tree")
    segments = path.split("/")
    if ".." in segments:
        problems.append(f"{path!r} climbs out with '..'")
    if "." in segments or "" in segments[:-1] or segments[-1] == "":
        problems.append(f"{path!r} has an empty or '.' segment; write it as its normal form")
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return (*problems, f"{path!r} is not valid UTF-8")
    if len(encoded) > PATH_BYTES or any(len(segment.encode()) > SEGMENT_BYTES for segment in segments):
        problems.append(f"{path[:80]!r}… is too long: at most {SEGMENT_BYTES} bytes a name, {PATH_BYTES} in all")
    return tuple(problems)
