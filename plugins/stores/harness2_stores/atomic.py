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
        self._drafts = f"{root}/tmp"
        self._fsync = fsync
        self._swept = False

    def create(self, target: str, data: bytes) -> bool:
        """Writes a new file; False when there is one of that name, which stays."""
        with explained(target):
            if os.path.exists(target):
                return False
            draft = self._drafted(data)
            try:
                return self.link(draft, target)
            finally:
                _remove(draft)

    def write(self, target: str, data: bytes) -> None:
        """Writes a file, in place of what has its name."""
        with explained(target):
            draft = self._drafted(data)
            try:
                self.replace(draft, target)
            except BaseException:
                _remove(draft)
                raise

    @contextmanager
    def draft(self) -> Iterator[tuple[BinaryIO, str]]:
        """A new file under `tmp/`, gone afterwards unless it was given another name."""
        file, draft = self._opened()
        try:
            with file:
                yield file, draft
        finally:
            _remove(draft)

    def finish(self, file: BinaryIO) -> None:
        """Closes a draft that is complete."""
        file.flush()
        if self._fsync:
            os.fsync(file.fileno())
        file.close()

    def link(self, draft: str, target: str) -> bool:
        """Gives a finished draft its name, unless that is taken: then False."""
        try:
            try:
                os.link(draft, target)
            except FileNotFoundError:
                self._make(os.path.dirname(target))
                os.link(draft, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with NativeLock(self.root / "publish.lock"):
                if os.path.exists(target):
                    return False
                os.replace(draft, target)
        self._settle(target)
        return True

    def replace(self, draft: str, target: str) -> None:
        """Gives a finished draft its name, in place of what had it."""
        try:
            os.replace(draft, target)
        except FileNotFoundError:
            self._make(os.path.dirname(target))
            os.replace(draft, target)
        self._settle(target)

    def _drafted(self, data: bytes) -> str:
        file, draft = self._opened()
        try:
            with file:
                file.write(data)
                self.finish(file)
        except BaseException:
            _remove(draft)
            raise
        return draft

    def _opened(self) -> tuple[BinaryIO, str]:
        draft = f"{self._drafts}/{secrets.token_hex(12)}"
        if not self._swept:
            self._swept = True
            _sweep(Path(self._drafts))
        try:
            return open(draft, "xb"), draft
        except FileNotFoundError:
            self._make(self._drafts)
            return open(draft, "xb"), draft

    def _make(self, folder: str) -> None:
        path = Path(folder)
        missing = [place for place in (path, *path.parents) if not place.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for place in missing:
            self._settle(str(place))

    def _settle(self, path: str) -> None:
        """Makes a name durable in its directory."""
        if self._fsync and os.name == "posix":
            descriptor = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _remove(draft: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(draft)


def _sweep(folder: Path) -> None:
    before = time.time() - STALE_SECONDS
    with suppress(OSError):
        for leftover in folder.iterdir():
            with suppress(OSError):
                if leftover.stat().st_mtime < before:
                    leftover.unlink()
