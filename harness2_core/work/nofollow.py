"""Reading what an agent left, without following anything it made.

Every component below the root is opened relative to its directory and refused when it is a link; only regular files
are opened. What is no regular file is found and named, so that it can be listed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a fifo must not block the opening


@frozen
class Found:
    """One thing below a root. `path` is relative and POSIX; `kind` is empty for a regular file, else what it is."""

    path: str
    size: int = 0
    kind: str = ""


def kind_of_mode(mode: int) -> str:
    """What a file is, in words; empty for a regular file."""
    if stat.S_ISREG(mode):
        return ""
    for test, word in (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return word
    return "no regular file"


def walk(root: Path, below: str = "") -> Iterator[Found]:
    """Everything but directories below `root/below`, sorted within each directory; nothing when that is no directory.

    A link in `below` itself, a directory that cannot be read, and a name that is not UTF-8 come as a `Found` with a
    kind. Not recursive: no depth of nesting breaks it.
    """
    at = root
    for part in below.split("/") if below else ():
        at = at / part
        try:
            mode = at.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(mode):
            yield Found(at.relative_to(root).as_posix(), kind=kind_of_mode(mode) or "a file where a directory belongs")
            return
    waiting = [below]
    while waiting:
        directory = waiting.pop()
        try:
            with os.scandir(root / directory if directory else root) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if directory or not isinstance(error, FileNotFoundError):
                yield Found(directory or ".", kind=f"an unreadable directory ({error.strerror})")
            continue
        inner = []
        for entry in listed:
            path = f"{directory}/{entry.name}" if directory else entry.name
            if not _is_utf8(entry.name):
                yield Found(path, kind="something whose name is not UTF-8")
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield Found(path, kind=f"unreadable ({error.strerror})")
                continue
            if stat.S_ISDIR(seen.st_mode):
                inner.append(path)
            else:
                yield Found(path, seen.st_size, kind_of_mode(seen.st_mode))
        waiting.extend(reversed(inner))


def open_regular(root: Path, path: str) -> int:
    """A file descriptor of the regular file at `path` below `root`; `OSError` when any component is a link."""
    parts = path.split("/")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            at, before = os.open(part, _DIRECTORY, dir_fd=at), at
            os.close(before)
        opened = os.open(parts[-1], _FILE, dir_fd=at)
    finally:
        os.close(at)
    return _regular(opened, path)


def open_file(path: Path) -> int:
    """A file descriptor of the regular file at `path`, which must not be a link itself; `OSError` otherwise."""
    return _regular(os.open(path, _FILE), str(path))


def chunks(descriptor: int, size: int = 1 << 20) -> Iterator[bytes]:
    """The bytes of an open file; closes it at the end."""
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while chunk := stream.read(size):
            yield chunk


def _regular(descriptor: int, path: str) -> int:
    kind = kind_of_mode(os.fstat(descriptor).st_mode)
    if kind:
        os.close(descriptor)
        raise OSError(f"{path!r} is {kind}")
    return descriptor


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
