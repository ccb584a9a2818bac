"""The SQLite database of a store: made whole or not at all, one connection for each thread, errors in words.

WAL, so that readers never wait. Without `fsync` it still syncs at checkpoints (`synchronous=NORMAL`): a power loss then
costs the last writes; with `OFF` it could cost the whole file. With `fsync` every commit is synced (`FULL`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, final

from harness2_core.api import Damaged, StoreError

from .atomic import AtomicFiles
from .failures import FULL, explained

_SCHEMA: Final = """
CREATE TABLE records (
  kind TEXT NOT NULL, key TEXT NOT NULL, checksum TEXT NOT NULL, value BLOB NOT NULL, UNIQUE (kind, key));
CREATE TABLE blobs (digest TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, value BLOB NOT NULL);
"""
_CHECKPOINT_PAGES: Final = 4000
"""16 MB of log between checkpoints: few enough syncs that they do not count."""

_inherited: Final[list[object]] = []
"""Connections of a parent process, kept in its forked child: SQLite forbids even to close them there."""


@final
class Database:
    """`path` of the database; `wait_seconds` for another program that keeps it locked."""

    def __init__(self, path: Path, files: AtomicFiles, *, wait_seconds: int, fsync: bool) -> None:
        self.path = path
        self._files = files
        self._wait = wait_seconds
        self._synchronous = "FULL" if fsync else "NORMAL"
        self._local = _Local()
        self._turn = (os.getpid(), threading.Lock())

    def row(self, query: str, *given: object) -> tuple[Any, ...] | None:
        """The first row of an answer; `None` also while there is no database."""
        try:
            if not self.exists():
                return None
            row: tuple[Any, ...] | None = self._connection().execute(query, given).fetchone()
        except sqlite3.Error as error:
            raise self._in_words(error) from error
        return row

    def rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        """All rows, read at once: an open query would keep the log from being taken into the database."""
        try:
            if not self.exists():
                return []
            return self._connection().execute(query, given).fetchall()
        except sqlite3.Error as error:
            raise self._in_words(error) from error

    def write(self, statement: str, *given: object) -> int:
        """How many rows it changed. In turn: threads of one process queue here rather than poll in SQLite."""
        with self._lock():
            try:
                if not self.exists():
                    self._create()
                return self._connection().execute(statement, given).rowcount
            except sqlite3.Error as error:
                raise self._in_words(error) from error

    def write_all(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """One statement for each of `rows`, all in one transaction."""
        with self._lock():
            try:
                if not self.exists():
                    self._create()
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.executemany(statement, rows)
                    connection.execute("COMMIT")
                except BaseException:
                    connection.rollback()
                    raise
            except sqlite3.Error as error:
                raise self._in_words(error) from error

    def exists(self) -> bool:
        return self._local.connection is not None or self.path.exists()

    def close(self) -> None:
        """Closes this thread's connection; others close with their threads. The next use opens it again."""
        connection, self._local.connection = self._local.connection, None
        if connection is not None:
            connection.settle()

    def _connection(self) -> _Connection:
        local = self._local
        if local.connection is not None and local.connection.owner != os.getpid():
            local.connection.settle()
            local.connection = None
        if local.connection is None:
            local.connection = self._connect()
        return local.connection

    def _connect(self) -> _Connection:
        if not os.access(self.path.parent, os.W_OK):
            address = f"{self._unwritable().as_uri()}?immutable=1"
            return sqlite3.connect(address, uri=True, check_same_thread=False, factory=_Connection)
        connection = sqlite3.connect(
            self.path, timeout=self._wait, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        return connection

    def _unwritable(self) -> Path:
        log = Path(f"{self.path}-wal")
        if log.exists() and log.stat().st_size > 0:
            raise StoreError(
                f"{self.path} cannot be read: its directory is read-only and {log.name} holds writes not yet taken in",
                "copy the store's directory to a place that can be written, and read it there",
            )
        return self.path

    def _create(self) -> None:
        """Two processes may: each makes a whole empty database, and the first that names its own wins."""
        with explained(self.path), self._files.draft() as (file, draft):
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
            self._files.finish(file)
            self._files.link(draft, str(self.path))

    def _lock(self) -> threading.Lock:
        if self._turn[0] != os.getpid():  # forked: the lock may be held by a thread that does not exist here
            self._turn = (os.getpid(), threading.Lock())
        return self._turn[1]

    def _in_words(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return StoreError(f"{self.path} {FULL[0]}", FULL[1])
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreError(
                f"{self.path} was kept locked by another program for {self._wait} s",
                "end that program (a backup, an open sqlite3 shell), or raise the store's `wait_seconds`",
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return Damaged(
                f"{self.path} is damaged: {error}",
                "put back a copy, or move it away and run the same command again: what it held is made anew",
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return StoreError(
                f"{self.path} cannot be opened for writing: {error}",
                "give this user write access to it and its directory, or set the store's `path` to another one",
            )
        return StoreError(
            f"{self.path} cannot be used: {error}",
            "check that its disk is sound and has free space, then run again; all that was stored is kept",
        )


class _Connection(sqlite3.Connection):
    """Closes by itself when its thread or its store is gone; in a forked child it is only put aside."""

    owner: int | None = None
    """Process that opened it."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.owner = os.getpid()

    def settle(self) -> None:
        if self.owner == os.getpid():
            self.close()
        elif self.owner is not None:
            _inherited.append(self)

    def __del__(self) -> None:
        self.settle()


class _Local(threading.local):
    connection: _Connection | None = None
