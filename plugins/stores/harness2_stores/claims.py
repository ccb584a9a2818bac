"""Claims: one lock file for each key, locked by the operating system, so that a claim dies with its owner.

The file is removed by its holder *before* the lock is given back. Whoever opened it meanwhile locks a file without a
name; that is seen, and does not count. So two processes never hold one key, and only claims in force (and
those whose owner was killed) have a file. What killed owners left is removed a day later, under its own lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final

from harness2_core.api import StoreError

from .atomic import STALE_SECONDS
from .failures import explained
from .layout import key_name
from .locks import give_back, take
from .mounts import refuse_network


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
        path = f"{self._prepared()}/{key_name(key)}.lock"
        with explained(path):
            lock = take(path)
        owner = os.getpid()
        try:
            yield lock is not None
        finally:
            if lock is not None and os.getpid() == owner:
                give_back(lock, path)

    def _prepared(self) -> Path:
        if not self._ready:
            with explained(self._directory):
                self._directory.mkdir(parents=True, exist_ok=True)
            if not self._network_locks:
                refuse_network(self._directory, "a claim")
            _sweep(self._directory)
            self._ready = True
        return self._directory


def _sweep(directory: Path) -> None:
    before = time.time() - STALE_SECONDS
    for path in directory.glob("*.lock"):
        with suppress(OSError, StoreError):
            if path.stat().st_mtime < before:
                lock = take(str(path))
                if lock is not None:
                    give_back(lock, str(path))
