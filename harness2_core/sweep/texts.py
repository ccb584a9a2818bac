"""Texts of stored blobs, read when they are asked for.

A ballot looks at most views only to see that they are not blank: reading them all at once could take gigabytes. Small
ones are read some megabytes at a time where the store is quicker so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness2_core.model.canonical import Digest
from harness2_core.work.trees import read_blobs, takes_many

from .archive import Archive

KEPT_BYTES: Final = 20_000_000
"""Kept in memory for the next time they are asked for."""
SMALL_BYTES: Final = 64 * 1024
"""Texts up to this size are read together."""
TOGETHER_BYTES: Final = 4_000_000


class Texts(Mapping[Digest, str]):
    """Of the blobs whose `sizes` in bytes are given, which must be in the store."""

    def __init__(self, archive: Archive, sizes: Mapping[Digest, int]) -> None:
        self._archive = archive
        self._sizes = sizes
        self._kept: dict[Digest, str] = {}
        self._room = KEPT_BYTES
        together = takes_many(archive.store)
        self._unread = {digest: size for digest, size in sizes.items() if together and size <= SMALL_BYTES}
        """The small ones, where they are read together."""

    def __getitem__(self, digest: Digest) -> str:
        if digest not in self._sizes:
            raise KeyError(digest)
        if digest in self._unread:
            self._read_together()
        if digest in self._kept:
            return self._kept[digest]
        text = self._archive.text(digest)
        self._keep(digest, text)
        return text

    def __contains__(self, digest: object) -> bool:
        return digest in self._sizes

    def __iter__(self) -> Iterator[Digest]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def _read_together(self) -> None:
        wanted, room = [], min(TOGETHER_BYTES, self._room)
        for digest, size in self._unread.items():
            if size > room:
                break
            wanted.append(digest)
            room -= size
        for digest in wanted:
            del self._unread[digest]
        for digest, data in read_blobs(self._archive.store, wanted).items():
            self._keep(digest, data.decode(errors="replace"))

    def _keep(self, digest: Digest, text: str) -> None:
        if self._sizes[digest] <= self._room:
            self._kept[digest] = text
            self._room -= self._sizes[digest]
