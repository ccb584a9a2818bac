"""Manifests: files as a mapping of path to blob digest, nested like a Git tree.

A key `a/b.txt` is a blob; a key that ends in `/` mounts another manifest there. A manifest is itself stored as a blob
(its canonical JSON), so its digest names the whole content, and a nested one costs nothing to mention again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from typing import Final

from attrs import field, frozen

from .canonical import Digest, Json, canonical, digest_bytes
from .check import Field, a_digest, at_least
from .errors import InvalidValue
from .frozen import FrozenMap, frozen_map
from .paths import collisions, parents, unsafe

_USUAL: Final = 64
"""Most manifests have no more files than this: their names are looked at once for all that have the same."""


@frozen
class Entry:
    """A blob or a nested manifest: its digest and size in bytes (of a nested manifest: of all files in it)."""

    digest: Digest = field(validator=a_digest)
    size: int = field(validator=at_least(0))


@lru_cache(8192, typed=True)  # the same blobs are mentioned in every evidence of a task
def entry_of(digest: Digest, size: int) -> Entry:
    """The entry as a stored record or manifest has it."""
    return Entry(digest, size)


def _entries(items: Mapping[str, Entry]) -> FrozenMap[Entry]:
    return frozen_map(items)


def _checked(owner: object, field: Field, entries: FrozenMap[Entry]) -> None:
    problems = _usual_problems(tuple(entries)) if len(entries) <= _USUAL else _problems(entries.keys())
    if problems:
        raise InvalidValue("not a manifest: " + "; ".join(dict.fromkeys(problems)), "use normal relative POSIX paths")


def _problems(entries: Collection[str]) -> tuple[str, ...]:
    problems = [problem for path in entries for problem in unsafe(path.removesuffix("/"))]
    problems += [f"{path!r} is both a file and a directory" for path in entries if path + "/" in entries]
    for path in entries:
        for parent in parents(path.removesuffix("/")) if "/" in path else ():
            if parent in entries:
                problems.append(f"{parent!r} is a file and also the directory of {path!r}")
            if parent + "/" in entries:
                problems.append(f"{path!r} lies inside the mounted {parent + '/'!r}")
    return tuple(problems)


@lru_cache(1024)
def _usual_problems(paths: tuple[str, ...]) -> tuple[str, ...]:
    return _problems(dict.fromkeys(paths))


@frozen
class Manifest:
    """POSIX path -> blob; `name/` -> another manifest."""

    entries: FrozenMap[Entry] = field(converter=_entries, validator=_checked, factory=FrozenMap)

    @cached_property
    def size(self) -> int:
        """Bytes of all files, nested ones included."""
        return sum(entry.size for entry in self.entries.values())

    def encode(self) -> bytes:
        """The canonical JSON that is stored as this manifest's blob."""
        return self._encoded

    @cached_property
    def digest(self) -> Digest:
        return digest_bytes(self._encoded)

    def entry(self) -> Entry:
        """How another manifest mentions this one."""
        return self._entry

    @cached_property
    def _entry(self) -> Entry:
        return Entry(self.digest, self.size)

    @cached_property
    def _encoded(self) -> bytes:
        entries: dict[str, Json] = {path: [entry.digest, entry.size] for path, entry in self.entries.items()}
        return canonical({"manifest": entries})


def decode_manifest(data: bytes) -> Manifest:
    """The inverse of `Manifest.encode`; `InvalidValue` when `data` is anything else."""
    remedy = "check the store with `harness2 cache verify`"
    try:
        listed = json.loads(data)["manifest"]
        manifest = Manifest({path: entry_of(digest, size) for path, (digest, size) in listed.items()})
    except InvalidValue as error:
        raise InvalidValue(f"not a stored manifest: {error.what}", remedy) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InvalidValue(f"not a stored manifest: {data[:60]!r}", remedy) from None
    if manifest.encode() != data:
        raise InvalidValue(f"a manifest in another form than it is stored in: {data[:60]!r}", remedy)
    return manifest


def blob_entry(data: bytes) -> Entry:
    """The entry of a file with these bytes."""
    return Entry(digest_bytes(data), len(data))


def case_collisions(manifest: Manifest) -> tuple[str, ...]:
    """Names that a case-folding file system would merge."""
    return collisions(path.removesuffix("/") for path in manifest.entries)


def merged(*parts: Mapping[str, Entry]) -> Manifest:
    """One manifest of several sets of entries; the same path twice is an error."""
    entries: dict[str, Entry] = {}
    for part in parts:
        for path, entry in part.items():
            if path in entries:
                raise InvalidValue(f"{path!r} would be written twice in one manifest", "give each file its own name")
            entries[path] = entry
    return Manifest(entries)
