"""A store in memory, for tests of what stands on stores. It keeps the whole contract within one process."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, final
from weakref import WeakValueDictionary

from attrs import frozen

from harness2_core.api import Damaged, Digest, InvalidValue, Store, StoreError, digest_bytes

_BLOB: Final = "blob"


@frozen
class MemorySettings:
    """There is nothing to set."""


@final
class MemoryStore:
    """Safe for threads. `damage` alters what is kept, so that a test sees what a flipped byte does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blobs: dict[Digest, bytes] = {}
        self._records: dict[tuple[str, str], tuple[bytes, Digest]] = {}
        self._claimed: set[str] = set()

    def put_blob(self, source: Path | bytes) -> Digest:
        data = source if isinstance(source, bytes) else _content(source)
        digest = digest_bytes(data)
        with self._lock:
            self._blobs.setdefault(digest, data)
        return digest

    def has_blob(self, digest: Digest) -> bool:
        return digest in self._blobs

    def open_blob(self, digest: Digest) -> BinaryIO:
        data = self._blobs.get(digest)
        if data is None:
            raise StoreError(f"blob {digest} is not in the memory store", "put it there first")
        if digest_bytes(data) != digest:
            raise Damaged(f"blob {digest} in the memory store is damaged", "delete it and put it again")
        return io.BytesIO(data)

    def put(self, kind: str, key: str, value: bytes) -> bool:
        _refuse_blob(kind)
        _utf8(kind + key)
        with self._lock:
            if (kind, key) in self._records:
                return False
            self._records[kind, key] = (bytes(value), digest_bytes(value))
            return True

    def get(self, kind: str, key: str) -> bytes | None:
        _refuse_blob(kind)
        value, digest = self._records.get((kind, key), (None, ""))
        if value is not None and digest_bytes(value) != digest:
            raise Damaged(f"the {kind} record {key!r} in the memory store is damaged", "delete it and put it again")
        return value

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        with self._lock:
            if kind == _BLOB:
                return iter(sorted((digest, len(data)) for digest, data in self._blobs.items()))
            return iter(
                sorted((key, len(value)) for (of_kind, key), (value, _) in self._records.items() if of_kind == kind)
            )

    def delete(self, kind: str, key: str) -> None:
        with self._lock:
            if kind == _BLOB:
                self._blobs.pop(key, None)
            else:
                self._records.pop((kind, key), None)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        return self._claim(key)

    def damage(self, marker: bytes) -> None:
        """Flips a bit in every value that contains `marker`."""
        flipped = bytes([marker[0] ^ 1]) + marker[1:]
        with self._lock:
            self._blobs = {digest: data.replace(marker, flipped) for digest, data in self._blobs.items()}
            self._records = {
                key: (value.replace(marker, flipped), digest) for key, (value, digest) in self._records.items()
            }

    @contextmanager
    def _claim(self, key: str) -> Iterator[bool]:
        _utf8(key)
        with self._lock:
            ours = key not in self._claimed
            self._claimed.add(key)
        try:
            yield ours
        finally:
            if ours:
                with self._lock:
                    self._claimed.discard(key)


def memory_store(settings: MemorySettings, runs: Path) -> Store:
    """A factory as a provider has one: within this process the same runs directory is the same store while in use."""
    with _shared_lock:
        store = _shared.get(runs)
        if store is None:
            store = _shared[runs] = MemoryStore()
        return store


_shared: Final[WeakValueDictionary[Path, MemoryStore]] = WeakValueDictionary()
_shared_lock: Final = threading.Lock()


def _content(source: Path) -> bytes:
    if not source.is_file():
        raise StoreError(f"{source} cannot be read into the store", "check that it is a regular file")
    return source.read_bytes()


def _refuse_blob(kind: str) -> None:
    if kind == _BLOB:
        raise InvalidValue("the kind 'blob' holds blobs, not records", "use put_blob and open_blob, or another kind")


def _utf8(key: str) -> None:
    try:
        key.encode()
    except UnicodeEncodeError:
        raise InvalidValue(
            f"the key {key!r} holds half a character (a lone surrogate)",
            "decode bytes with errors='replace' before they become part of a key",
        ) from None
