"""The store of plain files: `blobs/`, `records/<kind>/`, `claims/`, and `tmp/` for what is being written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Final, final

from harness2_core.api import Digest, InvalidValue, Store

from .atomic import AtomicFiles
from .blobs import BlobFiles
from .claims import Claims
from .mark import is_marked, put_mark
from .records import RecordFiles
from .settings import FilesystemSettings, directory

BLOB: Final = "blob"
_NAME: Final = "filesystem"


def filesystem_store(settings: FilesystemSettings, runs: Path) -> Store:
    """The provider `filesystem`. Nothing is written before the first put or claim."""
    return FilesystemStore(directory(settings, runs), fsync=settings.fsync, network_locks=settings.network_locks)


@final
class FilesystemStore:
    def __init__(self, root: Path, *, fsync: bool = False, network_locks: bool = False) -> None:
        self._files = AtomicFiles(root, fsync=fsync)
        self._blobs = BlobFiles(self._files)
        self._records = RecordFiles(self._files)
        self._claims = Claims(root / "claims", network_locks=network_locks)
        self._marked = is_marked(root, _NAME)

    def put_blob(self, source: Path | bytes) -> Digest:
        self._mark()
        return self._blobs.put_file(source) if isinstance(source, Path) else self._blobs.put_bytes(source)

    def has_blob(self, digest: Digest) -> bool:
        return self._blobs.has(digest)

    def open_blob(self, digest: Digest) -> BinaryIO:
        return self._blobs.open(digest)

    def put(self, kind: str, key: str, value: bytes) -> bool:
        refuse_blob(kind)
        self._mark()
        return self._records.put(kind, key, value)

    def get(self, kind: str, key: str) -> bytes | None:
        refuse_blob(kind)
        return self._records.get(kind, key)

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        return self._blobs.scan() if kind == BLOB else iter(self._records.scan(kind))

    def delete(self, kind: str, key: str) -> None:
        if kind == BLOB:
            self._blobs.delete(key)
        else:
            self._records.delete(kind, key)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        return self._claims.claim(key)

    def _mark(self) -> None:
        if not self._marked:
            put_mark(self._files, _NAME)
            self._marked = True


def refuse_blob(kind: str) -> None:
    if kind == BLOB:
        raise InvalidValue("the kind 'blob' holds blobs, not records", "use put_blob and open_blob, or another kind")
