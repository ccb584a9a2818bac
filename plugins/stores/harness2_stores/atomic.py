"""Files that are whole or absent, whatever kills the process.

A file is written under `tmp/` and then given its name in one step: by a hard link, which fails when the name is taken
(first wins), or by a rename, which replaces. What a killed process leaves under `tmp/` never counts, and is removed a
day later. File systems without hard links (exFAT) get the same promise from a lock around look and rename.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, final

from filelock import UnixFileLock, WindowsFileLock

from .failures import explained

STALE_SECONDS: Final = 24 * 3600
"""Age of a leftover that no living process can still be writing: writing keeps a file young."""

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})

NativeLock: Final = WindowsFileLock if sys.platform == "win32" else UnixFileLock
"""A lock that the system gives back when its owner dies. Never the soft kind, which outlives it."""


@final
class AtomicFiles:
    """Writes files below `root`. `fsync`: each is on the disk before its name is."""

    def __init__(self, root: Path, *, fsync: bool) -> None:
        self.root = root
        self._fsync = fsync
        self._swept = False

    def create(self, target: Path, data: bytes) -> bool:
        """Writes a new file; False when there is one of that name, which stays."""
        with explained(target):
            if target.exists():
                return False
            with self.draft() as (file, draft):
                file.write(data)
                self.finish(file)
                return self.link(draft, target)

    @contextmanager
    def draft(self) -> Iterator[tuple[BinaryIO, Path]]:
        """A new file under `tmp/`, gone afterwards unless it was given another name."""
        folder = self.root / "tmp"
        draft = folder / secrets.token_hex(12)
        if not self._swept:
            self._swept = True
            _sweep(folder)
        try:
            file = draft.open("xb")
        except FileNotFoundError:
            self._make(folder)
            file = draft.open("xb")
        try:
            with file:
                yield file, draft
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()

    def finish(self, file: BinaryIO) -> None:
        """Closes a draft that is complete."""
        file.flush()
        if self._fsync:
            os.fsync(file.fileno())
        file.close()

    def link(self, draft: Path, target: Path) -> bool:
        """Gives a finished draft its name, unless that is taken: then False."""
        try:
            try:
                target.hardlink_to(draft)
            except FileNotFoundError:
                self._make(target.parent)
                target.hardlink_to(draft)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with NativeLock(self.root / "publish.lock"):
                if target.exists():
                    return False
                draft.replace(target)
        self._settle(target.parent)
        return True

    def replace(self, draft: Path, target: Path) -> None:
        """Gives a finished draft its name, in place of what had it."""
        try:
            draft.replace(target)
        except FileNotFoundError:
            self._make(target.parent)
            draft.replace(target)
        self._settle(target.parent)

    def _make(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            self._settle(path.parent)

    def _settle(self, folder: Path) -> None:
        """Makes the names in a directory durable."""
        if self._fsync and os.name == "posix":
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _sweep(folder: Path) -> None:
    before = time.time() - STALE_SECONDS
    with suppress(OSError):
        for leftover in folder.iterdir():
            with suppress(OSError):
                if leftover.stat().st_mtime < before:
                    leftover.unlink()
