"""Errors of the operating system in words: which path, what happened, the way out.

A full disk is the case that long runs meet. Whatever the error, what the store held before is still there: nothing is
written in place.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, final

from harness2_core.api import StoreError

_KEPT: Final = "all that was stored is kept"
_PERMISSION: Final = (
    "cannot be written by this user",
    "give this user write access to it, or set the store's `path` to a directory that has it",
)
_NOT_A_DIRECTORY: Final = (
    "is in the way: a file where the store needs a directory",
    "move that file away, or set the store's `path` to another directory",
)
FULL: Final = ("is on a disk that is full", f"free some space there and run the same command again; {_KEPT}")

_WORDS: Final = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: ("is beyond this user's disk quota", f"free some space and run the same command again; {_KEPT}"),
    errno.EFBIG: (
        "would grow beyond the largest file allowed",
        f"raise the limit (`ulimit -f`, or another file system) and run the same command again; {_KEPT}",
    ),
    errno.EROFS: ("is on a file system mounted read-only", _PERMISSION[1]),
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.ENOTDIR: _NOT_A_DIRECTORY,
    errno.EEXIST: _NOT_A_DIRECTORY,
    errno.EMFILE: ("cannot be opened: this process has too many files open", "raise `ulimit -n`, or use fewer slots"),
    errno.ENFILE: ("cannot be opened: this machine has too many files open", "end other programs, or use fewer slots"),
    errno.EIO: (
        "cannot be read or written: the disk reports an error",
        "check the disk, then copy the store elsewhere",
    ),
}


@final
class explained:
    """Turns an `OSError` about the store at `path` into a `StoreError`; its `__cause__` keeps the original."""

    __slots__ = ("_path",)

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        what, remedy = _WORDS.get(
            error.errno or 0, (f"cannot be used: {error.strerror or error}", f"mend that and run again; {_KEPT}")
        )
        raise StoreError(f"{_culprit(error, Path(self._path))} {what}", remedy) from error


@contextmanager
def explained_source(source: Path) -> Iterator[None]:
    """The same for a file that is to be stored."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{source} cannot be read into the store: {error.strerror or error}",
            "check that it is a regular file that this user may read, then run again",
        ) from error


def _culprit(error: OSError, path: Path) -> Path:
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return next((place for place in (path, *path.parents) if place.exists() and not place.is_dir()), path)
    return Path(error.filename) if isinstance(error.filename, str) else path
