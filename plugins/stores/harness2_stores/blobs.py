"""Blobs as files, each named by the SHA-256 of its bytes, and the reader that checks them."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, final

from harness2_core.api import Damaged, Digest, StoreError, digest_bytes

from .atomic import AtomicFiles
from .failures import explained, explained_source
from .layout import blob_path

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK: Final = 1 << 20
_TRIES: Final = 3
_EMPTY: Final = digest_bytes(b"")


@final
class BlobFiles:
    """The directory `blobs/` of a store."""

    def __init__(self, files: AtomicFiles) -> None:
        self._files = files
        self._directory = f"{files.root}/blobs"

    def put_bytes(self, data: bytes) -> Digest:
        digest = digest_bytes(data)
        target = blob_path(self._directory, digest)
        with explained(target):
            present = _size(target)
        if present != len(data):  # absent, or cut short by a power loss
            self._files.write(target, data)
        return digest

    def put_file(self, source: Path) -> Digest:
        """Streams a file in. One that changes while it is read is read again; `StoreError` when it never rests.

        Read twice when it is new: a file that is stored already, the common case, then costs no writing.
        """
        for _ in range(_TRIES):
            digest, size = _digest_of(source)
            target = blob_path(self._directory, digest)
            with explained(target):
                if _size(target) == size or self._copied(source, digest, target):
                    return digest
        raise changing(source)

    def _copied(self, source: Path, digest: Digest, target: str) -> bool:
        with self._files.draft() as (file, draft):
            hashed = hashlib.sha256()
            for chunk in _chunks(source):
                hashed.update(chunk)
                file.write(chunk)
            self._files.finish(file)
            if hashed.hexdigest() != digest:
                return False
            self._files.replace(draft, target)
            return True

    def has(self, digest: Digest) -> bool:
        """Present; an empty file is what a power loss makes of one, unless emptiness is its content."""
        size = _size(blob_path(self._directory, digest))
        return size is not None and (size > 0 or digest == _EMPTY)

    def open(self, digest: Digest) -> BinaryIO:
        path = blob_path(self._directory, digest)
        with explained(path):
            try:
                return verified(path, digest)
            except FileNotFoundError:
                raise absent(digest, self._directory) from None

    def scan(self) -> Iterator[tuple[Digest, int]]:
        with explained(self._directory):
            for folder in _sorted(self._directory):
                for name in _sorted(f"{self._directory}/{folder}"):
                    size = _size(f"{self._directory}/{folder}/{name}")
                    if size is not None and folder == name[:2]:
                        yield name, size

    def delete(self, digest: Digest) -> None:
        path = blob_path(self._directory, digest)
        with explained(path), suppress(FileNotFoundError):
            os.unlink(path)


def verified(path: str, digest: Digest) -> BinaryIO:
    """The file's bytes, checked: a small file at once, a large one as it is read."""
    file = io.FileIO(path)
    size = os.fstat(file.fileno()).st_size
    if size > _CHUNK:
        return io.BufferedReader(_Verified(file, path, digest, size), _CHUNK)
    with file:
        data = file.read()
    if digest_bytes(data) != digest:
        raise damaged(path, digest)
    return io.BytesIO(data)


def damaged(path: str, digest: Digest) -> Damaged:
    return Damaged(
        f"{path} is damaged: its bytes are no longer those of blob {digest}",
        "delete that file and run the same command again, which makes it anew; of a finished task, with `--retry dead`",
    )


def absent(digest: Digest, place: str | Path) -> StoreError:
    return StoreError(
        f"blob {digest} is not in {place}",
        "if the store was copied, copy it whole; else run the same command again, which makes it anew; of a finished "
        "task, with `--retry dead`",
    )


def changing(source: Path) -> StoreError:
    return StoreError(
        f"{source} changed while it was read into the store", "end the program that writes it, then run again"
    )


def steady_bytes(source: Path) -> bytes | None:
    """A small file's bytes in one reading during which it did not change; `None` when it did."""
    with explained_source(source), io.FileIO(source, opener=_regular) as file:
        before = os.fstat(file.fileno())
        data = file.read()
        after = os.fstat(file.fileno())
    return data if (before.st_size, before.st_mtime_ns) == (len(data), after.st_mtime_ns) else None


class _Verified(io.RawIOBase):
    """Hashes what passes; the reading that reaches the end raises `Damaged` instead when the digest differs."""

    def __init__(self, file: io.FileIO, path: str, digest: Digest, size: int) -> None:
        self._file = file
        self._path = path
        self._digest = digest
        self._left = size
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        with explained(self._path):
            count = self._file.readinto(view) or 0
        self._hash.update(view[:count])
        self._left -= count
        if (self._left <= 0 or count == 0) and self._hash.hexdigest() != self._digest:
            raise damaged(self._path, self._digest)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _digest_of(source: Path) -> tuple[Digest, int]:
    hashed = hashlib.sha256()
    size = 0
    for chunk in _chunks(source):
        hashed.update(chunk)
        size += len(chunk)
    return hashed.hexdigest(), size


def _chunks(source: Path) -> Iterator[bytes]:
    with explained_source(source):
        file = io.FileIO(source, opener=_regular)
    with file:
        while True:
            with explained_source(source):
                chunk = file.read(_CHUNK)
            if not chunk:
                return
            yield chunk


def _regular(path: str, flags: int) -> int:
    """Opens without waiting, so that a named pipe is refused rather than read for ever."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "not a regular file")
    return descriptor


def _size(path: str) -> int | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _sorted(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
