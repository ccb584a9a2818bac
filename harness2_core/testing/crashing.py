"""A store that keeps a diary and ends its own process at a chosen instant: what a sweep survives is shown with it.

An instant is the moment after a step of the store: something put, or a claim taken or given back. Between two steps
nothing that lasts happens, so killing after each of them is killing at every instant.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from harness2_core.api import Digest, Store

_AT: Final = "at"
_DIARY: Final = "diary"
_PAID: Final = ("rollout", "session", "grade")
_counts: dict[Path, itertools.count[int]] = {}
"""Steps of this process, whatever number of store objects takes them."""


class CrashingStore:
    """`store`, watched. `orders` is a directory: its file `diary` is written here, its file `at` by `crash_at`."""

    def __init__(self, store: Store, orders: Path) -> None:
        self._store = store
        self._orders = orders
        self._count = _counts.setdefault(orders, itertools.count(1))
        self._at = _order(orders / _AT)

    def put_blob(self, source: Path | bytes) -> Digest:
        digest = self._store.put_blob(source)
        self._stepped("blob", digest, "")
        return digest

    def has_blob(self, digest: Digest) -> bool:
        return self._store.has_blob(digest)

    def open_blob(self, digest: Digest) -> BinaryIO:
        return self._store.open_blob(digest)

    def put(self, kind: str, key: str, value: bytes) -> bool:
        first = self._store.put(kind, key, value)
        self._stepped("put" if first else "had", kind, key)
        return first

    def get(self, kind: str, key: str) -> bytes | None:
        return self._store.get(kind, key)

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        return self._store.scan(kind)

    def delete(self, kind: str, key: str) -> None:
        self._store.delete(kind, key)
        self._stepped("delete", kind, key)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        with self._store.claim(key) as ours:
            if ours:
                self._stepped("claimed", key, "")
            yield ours
        if ours:
            self._stepped("given-back", key, "")

    def _stepped(self, what: str, kind: str, key: str) -> None:
        number = next(self._count)
        line = f"{os.getpid()} {number} {what} {kind} {key}\n".encode()
        file = os.open(self._orders / _DIARY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)
        if self._at and (str(number) == self._at or re.match(self._at, f"{what} {kind} {key}")):
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # the signal may reach another thread first


def crash_at(orders: Path, step: int | str | None) -> None:
    """Processes started from now on are killed after that step of their store; with `None`, none is.

    A number counts steps; a text is a pattern that the beginning of the first step meant matches, such as `put view`.
    """
    orders.mkdir(parents=True, exist_ok=True)
    (orders / _AT).write_text("" if step is None else str(step), encoding="ascii")


def forget(orders: Path) -> None:
    """Begins the diary anew."""
    (orders / _DIARY).unlink(missing_ok=True)


def steps(orders: Path) -> tuple[tuple[str, str, str], ...]:
    """(what, kind, key) of every step, in order, over all processes."""
    try:
        text = (orders / _DIARY).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    lines = (line.split(" ", 4)[2:] for line in text.splitlines())
    return tuple((what, kind, key) for what, kind, key in lines)


def paid_again(orders: Path) -> tuple[str, ...]:
    """Requests at which an attempt was begun after they had a record: there must be none."""
    finished, wrong = set(), []
    for what, kind, key in steps(orders):
        if what == "put" and kind in _PAID:
            finished.add(key)
        elif what == "delete" and kind in _PAID:
            finished.discard(key)
        elif what == "put" and kind == "attempt" and key.endswith("/started") and key.partition("/")[0] in finished:
            wrong.append(key.partition("/")[0])
    return tuple(wrong)


def _order(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return ""
