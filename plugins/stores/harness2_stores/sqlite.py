"""The store in one SQLite database, `store.sqlite`, with large blobs as files beside it.

Blobs up to `LARGE` bytes are rows: cheaper than a file each. Larger ones are files, as in the filesystem store: a row
would be written twice (log, then database), hold the one write lock meanwhile, and have to fit in memory.
"""

from __future__ import annotations

import heapq
import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Final, final

from harness2_core.api import Damaged, Digest, Store, digest_bytes

from .atomic import AtomicFiles
from .blobs import BlobFiles, changing, steady_bytes
from .claims import Claims
from .database import Database
from .failures import explained_source
from .filesystem import BLOB, refuse_blob
from .layout import utf8
from .mark import is_marked, put_mark
from .mounts import refuse_network
from .records import checksum, damaged_record
from .settings import SqliteSettings, directory

LARGE: Final = 256 * 1024
_NAME: Final = "sqlite"
_PUT: Final = "INSERT OR REPLACE INTO blobs (digest, size, value) VALUES (?, ?, ?)"
_MANY: Final = "<digests>"
_TRIES: Final = 3
_TOGETHER: Final = 500
"""Digests named in one statement: SQLite takes 999 in its smallest builds."""


def sqlite_store(settings: SqliteSettings, runs: Path) -> Store:
    """The provider `sqlite`. Nothing is written before the first put or claim."""
    return SqliteStore(
        directory(settings, runs),
        wait_seconds=settings.wait_seconds,
        fsync=settings.fsync,
        network_locks=settings.network_locks,
    )


@final
class SqliteStore:
    def __init__(self, root: Path, *, wait_seconds: int = 30, fsync: bool = False, network_locks: bool = False) -> None:
        self._files = AtomicFiles(root, fsync=fsync)
        self._large = BlobFiles(self._files)
        self._database = Database(root / "store.sqlite", self._files, wait_seconds=wait_seconds, fsync=fsync)
        self._claims = Claims(root / "claims", network_locks=network_locks)
        self._network_locks = network_locks
        self._marked = is_marked(root, _NAME)

    def put_blob(self, source: Path | bytes) -> Digest:
        if isinstance(source, bytes):
            return self._put_large(source) if len(source) > LARGE else self._put_small(source)
        for _ in range(_TRIES):
            with explained_source(source):
                size = source.stat().st_size
            if size > LARGE or not source.is_file():
                self._mark()
                return self._large.put_file(source)
            data = steady_bytes(source)
            if data is not None:
                return self.put_blob(data)
        raise changing(source)

    def has_blob(self, digest: Digest) -> bool:
        whole = self._is_whole(digest)
        return self._large.has(digest) if whole is None else whole

    def open_blob(self, digest: Digest) -> BinaryIO:
        row = self._database.row("SELECT value FROM blobs WHERE digest = ?", digest)
        return self._large.open(digest) if row is None else io.BytesIO(self._checked(digest, row[0]))

    def put_blobs(self, blobs: Mapping[Digest, bytes]) -> None:
        """One statement finds those that are missing, one transaction puts them."""
        small = {digest: data for digest, data in blobs.items() if len(data) <= LARGE}
        whole = f"SELECT digest FROM blobs WHERE digest IN ({_MANY}) AND length(value) = size"
        missing = small.keys() - {digest for (digest,) in self._rows_of(whole, small)}
        if missing:
            self._mark()
            self._database.write_all(_PUT, [(digest, len(small[digest]), small[digest]) for digest in sorted(missing)])
        for data in blobs.values():
            if len(data) > LARGE:
                self._put_large(data)

    def read_blobs(self, digests: Collection[Digest]) -> Mapping[Digest, bytes]:
        rows = self._rows_of(f"SELECT digest, value FROM blobs WHERE digest IN ({_MANY})", digests)
        found = {digest: self._checked(digest, value) for digest, value in rows}
        for digest in frozenset(digests) - found.keys():
            with self._large.open(digest) as stream:
                found[digest] = stream.read()
        return found

    def put(self, kind: str, key: str, value: bytes) -> bool:
        refuse_blob(kind)
        utf8(kind), utf8(key)
        self._mark()
        statement = "INSERT OR IGNORE INTO records (kind, key, checksum, value) VALUES (?, ?, ?, ?)"
        return self._database.write(statement, kind, key, checksum(kind, key, value), value) == 1

    def get(self, kind: str, key: str) -> bytes | None:
        refuse_blob(kind)
        utf8(kind), utf8(key)
        row = self._database.row("SELECT checksum, value FROM records WHERE kind = ? AND key = ?", kind, key)
        if row is None:
            return None
        if not isinstance(row[1], bytes) or row[0] != checksum(kind, key, row[1]):
            raise damaged_record(
                self._database.path, kind, key, self._drop("records", f"kind = {_text(kind)} AND key = {_text(key)}")
            )
        return row[1]

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        if kind == BLOB:
            rows = self._database.rows("SELECT digest, length(value) FROM blobs ORDER BY digest")
            return heapq.merge(rows, self._large.scan())
        return iter(self._database.rows("SELECT key, length(value) FROM records WHERE kind = ? ORDER BY key", kind))

    def delete(self, kind: str, key: str) -> None:
        if kind == BLOB:
            self._large.delete(key)
        if not self._database.exists():
            return
        if kind == BLOB:
            self._database.write("DELETE FROM blobs WHERE digest = ?", key)
        else:
            self._database.write("DELETE FROM records WHERE kind = ? AND key = ?", kind, key)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        return self._claims.claim(key)

    def close(self) -> None:
        """Closes this thread's connection and takes the log into the database; the next use opens it again."""
        self._database.close()

    def _put_small(self, data: bytes) -> Digest:
        digest = digest_bytes(data)
        if not self._is_whole(digest):
            self._mark()
            self._database.write(_PUT, digest, len(data), data)
        return digest

    def _rows_of(self, query: str, digests: Collection[Digest]) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that names many digests, some at a time."""
        asked = list(digests)
        for start in range(0, len(asked), _TOGETHER):
            some = asked[start : start + _TOGETHER]
            yield from self._database.rows(query.replace(_MANY, ",".join("?" * len(some))), *some)

    def _is_whole(self, digest: Digest) -> bool | None:
        """Whether the row of a blob has all its bytes; `None`: there is none."""
        row = self._database.row("SELECT length(value) = size FROM blobs WHERE digest = ?", digest)
        return None if row is None else bool(row[0])

    def _put_large(self, data: bytes) -> Digest:
        self._mark()
        return self._large.put_bytes(data)

    def _checked(self, digest: Digest, value: object) -> bytes:
        if isinstance(value, bytes) and digest_bytes(value) == digest:
            return value
        raise Damaged(
            f"{self._database.path} is damaged: the bytes of blob {digest} are no longer those stored",
            self._drop("blobs", f"digest = {_text(digest)}"),
        )

    def _drop(self, table: str, where: str) -> str:
        command = f"DELETE FROM {table} WHERE {where}"
        return (
            f"run `{command}` in `sqlite3 {self._database.path}`, then the same command again, which makes it anew; of "
            "a finished task, with `--retry dead`"
        )

    def _mark(self) -> None:
        if not self._marked:
            put_mark(self._files, _NAME)
            if not self._network_locks:
                refuse_network(self._files.root, "a database")
            self._marked = True


def _text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
