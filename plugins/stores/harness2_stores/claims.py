"""Claims: one lock file for each key, locked by the operating system, so that a claim dies with its owner.

The file is removed by its holder *before* the lock is given back. Whoever opened it meanwhile locks a file without a
name; filelock sees that and does not count it. So two processes never hold one key, and only claims in force (and
those whose owner was killed) have a file. What killed owners left is removed a day later, under its own lock.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, final

from filelock import BaseFileLock, Timeout

from harness2_core.api import StoreError

from .atomic import STALE_SECONDS, NativeLock
from .failures import explained
from .layout import key_name
from .mounts import refuse_network

_POSIX: Final = sys.platform != "win32"


@final
class Claims:
    """The directory `claims/` of a store."""

    def __init__(self, directory: Path, *, network_locks: bool) -> None:
        self._directory = directory
        self._network_locks = network_locks
        self._ready = False

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Never waits. Not reentrant. Any thread of the owner may leave the context; in a forked child that is void."""
        lock = _locked(f"{self._prepared()}/{key_name(key)}.lock")
        owner = os.getpid()
        try:
            yield lock is not None
        finally:
            if lock is not None and os.getpid() == owner:
                _give_back(lock)

    def _prepared(self) -> Path:
        if not self._ready:
            with explained(self._directory):
                self._directory.mkdir(parents=True, exist_ok=True)
            if not self._network_locks:
                refuse_network(self._directory, "a claim")
            _sweep(self._directory)
            self._ready = True
        return self._directory


def _locked(path: str) -> BaseFileLock | None:
    # Holders remove the file themselves (see above), except on Windows, where only the closed file can be removed.
    lock = NativeLock(path, thread_local=False, fallback_to_soft=False, preserve_lock_file=_POSIX)
    with explained(path):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
    return lock


def _give_back(lock: BaseFileLock) -> None:
    if _POSIX:
        with suppress(OSError):  # a file that stays is swept later; the lock is what counts
            os.unlink(lock.lock_file)
    lock.release()


def _sweep(directory: Path) -> None:
    before = time.time() - STALE_SECONDS
    for path in directory.glob("*.lock"):
        with suppress(OSError, StoreError):
            if path.stat().st_mtime < before:
                lock = _locked(str(path))
                if lock is not None:
                    _give_back(lock)
