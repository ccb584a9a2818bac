"""Writing the readable copies and state files: whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from harness2_core.model.errors import StoreError


class Unwritable(StoreError):
    """A file could not be written."""


def write_whole(path: Path, data: bytes, *, fsync: bool = False, keep_mode: bool = False) -> None:
    """Replaces `path` in one step: a reader, or a crash, sees the old content or the new. Makes directories.

    `keep_mode`: who may read the file stays as it was.
    """
    temporary = path.with_name(f".{path.name[:60]}.{secrets.token_hex(6)}.tmp")
    try:
        with _opened(temporary) as stream:
            if keep_mode and path.exists():
                temporary.chmod(path.stat().st_mode & 0o7777)
            stream.write(data)
            if fsync:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):  # where a file stands in place of a directory, there is none to remove
            temporary.unlink()
        raise Unwritable(f"cannot write {path}: {error.strerror or error}", "free space or mend permissions") from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("xb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")


def remove_drafts(folder: Path) -> None:
    """What killed processes left half-written in a folder that only the caller writes to now."""
    for draft in folder.glob(".*.tmp"):
        draft.unlink(missing_ok=True)


def same_as(path: Path, data: bytes) -> bool:
    """Whether the file is there with just these bytes."""
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False
