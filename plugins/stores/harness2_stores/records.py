"""Records as files: one line that names the format and a digest, the key as it is, then the value.

The digest covers kind, key and value, so that a flipped byte is found, and a file moved to another name too.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from harness2_core.api import Damaged, StoreError

from .atomic import AtomicFiles
from .failures import explained
from .layout import is_for, key_of, key_path, kind_path

_FORMAT: Final = b"harness2-record/1"
_REMEDY: Final = (
    "delete that file and run the same command again, which makes it anew; of a finished task, with `--retry dead`"
)


@final
class RecordFiles:
    """The directory `records/` of a store."""

    def __init__(self, files: AtomicFiles) -> None:
        self._files = files
        self._directory = f"{files.root}/records"
        self._kinds: dict[str, str] = {}

    def put(self, kind: str, key: str, value: bytes) -> bool:
        return self._files.create(self._path(kind, key), _encoded(kind, key, value))

    def get(self, kind: str, key: str) -> bytes | None:
        path = self._path(kind, key)
        with explained(path):
            try:
                with io.FileIO(path) as file:
                    data = file.readall()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return _value(data, path, kind, key)

    def scan(self, kind: str) -> list[tuple[str, int]]:
        """Sorted by key; names of files give the keys, so that nothing is opened that has not a very long one."""
        directory = kind_path(self._directory, kind)
        with explained(directory):
            return sorted(_listed(directory, kind))

    def delete(self, kind: str, key: str) -> None:
        path = self._path(kind, key)
        with explained(path), suppress(FileNotFoundError):
            os.unlink(path)

    def _path(self, kind: str, key: str) -> str:
        folder = self._kinds.get(kind)
        if folder is None:
            folder = self._kinds[kind] = kind_path(self._directory, kind)
        return key_path(folder, key)


def checksum(kind: str, key: str, value: bytes) -> str:
    """The digest that is kept beside a value."""
    name, id = kind.encode(), key.encode()
    return hashlib.sha256(b"%d %d\n%b%b%b" % (len(name), len(id), name, id, value)).hexdigest()


def damaged_record(place: str | Path, kind: str, key: str, remedy: str) -> StoreError:
    return Damaged(f"{place} is damaged: the {kind} record {key!r} is not what was stored", remedy)


def _encoded(kind: str, key: str, value: bytes) -> bytes:
    return _header(checksum(kind, key, value), key.encode()) + value


def _header(digest: str, key: bytes) -> bytes:
    return b"%b %b %d\n%b\n" % (_FORMAT, digest.encode(), len(key), key)


def _header_size(key: str) -> int:
    size = len(key.encode())
    return len(_FORMAT) + 64 + len(str(size)) + size + 4


def _value(data: bytes, path: str, kind: str, key: str) -> bytes:
    start = _header_size(key)
    value = data[start:]
    if data[:start] != _header(checksum(kind, key, value), key.encode()):
        raise damaged_record(path, kind, key, _REMEDY)
    return value


def _listed(directory: str, kind: str) -> Iterator[tuple[str, int]]:
    for folder in _entries(directory):
        for file in _entries(folder.path):
            with suppress(FileNotFoundError, ValueError):  # deleted meanwhile; left by some other program
                key = key_of(folder.name, file.name)
                if key is None:
                    key = _key_inside(Path(file.path), kind)
                yield key, max(0, file.stat().st_size - _header_size(key))


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _key_inside(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        line = file.readline(200).split()
        with suppress(IndexError, ValueError):
            key = file.read(int(line[2])).decode()
            if is_for(path.parent.name, path.name, key):
                return key
    raise damaged_record(path, kind, path.name, _REMEDY)
