"""Texts of stored blobs, read when they are asked for.

A ballot looks at most views only to see that they are not blank: reading them all at once could take gigabytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from harness2_core.model.canonical import Digest

from .archive import Archive

KEPT_CHARS: Final = 20_000_000
"""Characters kept in memory for the next time they are asked for."""


class Texts(Mapping[Digest, str]):
    """Of `digests`, which must be in the store."""

    def __init__(self, archive: Archive, digests: Collection[Digest]) -> None:
        self._archive = archive
        self._digests = dict.fromkeys(digests)
        self._kept: dict[Digest, str] = {}
        self._room = KEPT_CHARS

    def __getitem__(self, digest: Digest) -> str:
        if digest not in self._digests:
            raise KeyError(digest)
        if digest in self._kept:
            return self._kept[digest]
        text = self._archive.text(digest)
        if len(text) <= self._room:
            self._kept[digest] = text
            self._room -= len(text)
        return text

    def __contains__(self, digest: object) -> bool:
        return digest in self._digests

    def __iter__(self) -> Iterator[Digest]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)
