"""Putting files that an agent left into the store: bounded, nothing followed, with constant paths.

What cannot be kept (links, devices, sockets, fifos, files over a cap, names that are no UTF-8) is listed in words.
"""

from __future__ import annotations

import codecs
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from attrs import field, frozen

from harness2_core.api.runtime import Store
from harness2_core.model.errors import InvalidValue
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.paths import unsafe

from .nofollow import chunks, open_file, open_regular, walk
from .rewriting import Rewriter

_IN_MEMORY: Final = 1 << 20
"""Bytes below which a file is kept without a copy on disk."""
_SNIFFED: Final = 64 << 10
"""Leading bytes without NUL that make a file a text, in which paths are rewritten."""
_NAMED: Final = 20
"""Problems named one by one in a note."""


@frozen
class Caps:
    """How much of one rollout is kept. Sizes in bytes: room for real deliverables, an end to runaway ones."""

    file_bytes: int = 256 << 20
    files: int = 20_000
    total_bytes: int = 4 << 30


@frozen
class Kept:
    """What is in the store now. `texts` are the files that are UTF-8; `heads` the first bytes of the others."""

    manifest: Manifest = field(factory=Manifest)
    texts: frozenset[str] = frozenset()
    heads: Mapping[str, bytes] = field(factory=dict)
    problems: tuple[str, ...] = ()


class Keeper:
    """Puts files of one request into the store; `scratch` takes copies of those too large for memory."""

    def __init__(self, store: Store, rewriter: Rewriter, scratch: Path, caps: Caps | None = None) -> None:
        self._store = store
        self._rewriter = rewriter
        self._scratch = scratch
        self._caps = caps or Caps()

    def tree(self, root: Path, below: str = "") -> Kept:
        """Everything below `root/below`; names are relative to it."""
        problems: list[str] = []

        def files() -> Iterator[tuple[str, Callable[[], int]]]:
            for found in walk(root, below):
                name = found.path[len(below) + 1 :] if below and found.path.startswith(f"{below}/") else found.path
                if found.kind:
                    problems.append(f"not kept: {shown(name)} is {found.kind}")
                else:
                    yield name, partial(open_regular, root, found.path)

        return self._kept(files(), problems)

    def files(self, files: Mapping[str, Path], roots: Iterable[Path] = ()) -> Kept:
        """Name -> local file. Below one of `roots` no component of a path may be a link; elsewhere not the last."""
        known = tuple(roots)

        def opened(path: Path) -> int:
            for root in known:
                if path.is_relative_to(root) and path != root:
                    return open_regular(root, path.relative_to(root).as_posix())
            return open_file(path)

        return self._kept(((name, partial(opened, path)) for name, path in files.items()), [])

    def one(self, descriptor: int, limit: int = 0) -> tuple[Entry, bool, bytes]:
        """One open file: its entry, whether it is UTF-8 text, its first bytes. `InvalidValue` above `limit` bytes."""
        size = os.fstat(descriptor).st_size
        if limit and size > limit:
            os.close(descriptor)
            raise _too_large(size, limit)
        source = chunks(descriptor, _IN_MEMORY)
        head = next(source, b"")
        watch = _Watch(limit)
        data = watch.watched(itertools.chain((head,), source))
        if b"\x00" not in head[:_SNIFFED]:
            data = self._rewriter.stream(data)
        if len(head) < _IN_MEMORY:  # a short read of a regular file is its end
            whole = b"".join(data)
            return Entry(self._store.put_blob(whole), len(whole)), watch.is_text, head[:16]
        spill = self._scratch / "keeping"
        try:
            size = 0
            with spill.open("wb") as out:
                for chunk in data:
                    size += out.write(chunk)
            return Entry(self._store.put_blob(spill), size), watch.is_text, head[:16]
        finally:
            spill.unlink(missing_ok=True)

    def path(self, path: Path) -> Entry:
        """A file of our own, such as a captured stream; no cap, its source bounded it."""
        return self.one(open_file(path))[0]

    def _kept(self, files: Iterable[tuple[str, Callable[[], int]]], problems: list[str]) -> Kept:
        entries: dict[str, Entry] = {}
        texts: set[str] = set()
        heads: dict[str, bytes] = {}
        total = left_out = 0
        for name, opening in files:
            wrong = unsafe(name)
            if wrong:
                problems.append(f"not kept: {'; '.join(wrong)}")
                continue
            if len(entries) >= self._caps.files or total >= self._caps.total_bytes:
                left_out += 1
                continue
            try:
                entry, is_text, head = self.one(opening(), self._caps.file_bytes)
            except (OSError, InvalidValue) as error:
                reason = error.what if isinstance(error, InvalidValue) else error.strerror or str(error)
                problems.append(f"not kept: {shown(name)}: {reason}")
                continue
            entries[name] = entry
            total += entry.size
            if is_text:
                texts.add(name)
            else:
                heads[name] = head
        if left_out:
            problems.append(
                f"not kept: {left_out:,} more files, beyond the first {len(entries):,} ({total:,} bytes in all)"
            )
        return Kept(Manifest(entries), frozenset(texts), heads, tuple(problems))


def listed(problems: Iterable[str]) -> str:
    """A note of all problems: the first ones by name, the others counted."""
    return "; ".join(first(problems))


def first(problems: Iterable[str]) -> tuple[str, ...]:
    """The first problems, and how many more there are."""
    found = tuple(dict.fromkeys(problems))
    more = (f"and {len(found) - _NAMED:,} more of the kind",) if len(found) > _NAMED else ()
    return (*found[:_NAMED], *more)


def shown(name: str) -> str:
    """A name that anybody may have chosen, safe to print and to store."""
    text = ascii(name) if any(0xD800 <= ord(c) <= 0xDFFF for c in name) else repr(name)
    return text if len(text) <= 200 else f"{text[:200]}…"


class _Watch:
    """Counts bytes that pass, and sees whether they are UTF-8 text."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.is_text = True

    def watched(self, source: Iterable[bytes]) -> Iterator[bytes]:
        seen = 0
        for chunk in source:
            seen += len(chunk)
            if self._limit and seen > self._limit:
                raise _too_large(seen, self._limit)  # it grew after it was measured
            self._look(chunk, final=False)
            yield chunk
        self._look(b"", final=True)

    def _look(self, chunk: bytes, *, final: bool) -> None:
        if not self.is_text:
            return
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self.is_text = False
        self.is_text = self.is_text and b"\x00" not in chunk


def _too_large(size: int, limit: int) -> InvalidValue:
    return InvalidValue(f"it has {size:,} bytes, more than the {limit:,} that are kept of one file")
