"""Laying out files as manifests: collects entries, remembers the blobs that may be new, and hands back one value.

A `Bundle` is what every evidence-like function of the method returns. `new` holds texts written here and the nested
manifests mentioned here; blobs that were captured or accepted before are only mentioned. Storing one twice is cheap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.errors import InvalidValue
from harness2_core.model.frozen import FrozenMap, frozen_map, strings
from harness2_core.model.manifest import Entry, Manifest, blob_entry

MARK: Final = "[harness2: "
"""How a remark of the framework begins; the renderer of transcripts quotes forged ones."""


def _blobs(items: Mapping[Digest, bytes]) -> FrozenMap[bytes]:
    return frozen_map(items)


@frozen
class Bundle:
    """A manifest of files for a session, and what goes with it."""

    manifest: Manifest = field(factory=Manifest)
    new: FrozenMap[bytes] = field(converter=_blobs, factory=FrozenMap)
    """Digest -> bytes: to be stored before the manifest's digest is mentioned."""
    listing: tuple[str, ...] = field(converter=strings, default=())
    """Lines that name what exists, for a mission."""
    cuts: tuple[str, ...] = field(converter=strings, default=())
    """What was left out, in words, for people."""


class Layout:
    """Files being laid out below one directory. The same path twice is an error."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._new: dict[Digest, bytes] = {}

    def text(self, path: str, text: str) -> None:
        """A file written here. Unpaired surrogates, which a model's text may hold, are replaced."""
        data = text.encode("utf-8", "replace")
        entry = blob_entry(data)
        self._put(path, entry)
        self._new[entry.digest] = data

    def blob(self, path: str, entry: Entry) -> None:
        """A file that is in the store already."""
        self._put(path, entry)

    def mount(self, path: str, manifest: Manifest) -> None:
        """Another manifest's files below `path`; an empty one leaves nothing."""
        if manifest.entries:
            self._put(path.removesuffix("/") + "/", manifest.entry())
            self._new[manifest.digest] = manifest.encode()

    def include(self, path: str, bundle: Bundle) -> None:
        """As `mount`, with the blobs that `bundle` brings."""
        self.mount(path, bundle.manifest)
        self._new.update(bundle.new)

    def adopt(self, entries: Mapping[str, Entry]) -> None:
        """Some of another manifest's entries, at the same paths."""
        for path, entry in entries.items():
            self._put(path, entry)

    def bundle(self, listing: tuple[str, ...] = (), cuts: tuple[str, ...] = ()) -> Bundle:
        """What was laid out; the manifest itself is among the new blobs."""
        manifest = Manifest(self._entries)
        return Bundle(manifest, {**self._new, manifest.digest: manifest.encode()}, listing, cuts)

    def _put(self, path: str, entry: Entry) -> None:
        if path in self._entries:
            raise InvalidValue(f"{path!r} would be written twice in one evidence", "give each file its own name")
        self._entries[path] = entry


def left_out(what: str) -> str:
    """The framework's own mark, a line of its own."""
    return f"{MARK}{what} left out here by the framework]"


def shown(path: str) -> str:
    """A file name that somebody else chose, on one line and in quotes that it cannot break."""
    plain = path.isprintable() and "`" not in path
    return f"`{path}`" if plain else json.dumps(path)


def one_line(text: str, limit: int = 300) -> str:
    """`text` for a line of an index, blanks folded; beyond `limit` characters, our mark is on the next line."""
    told = folded(text)
    if len(told) <= limit:
        return told
    return f"{told[:limit]}\n{left_out(f'{len(told) - limit:,} characters')}"


def phrase(text: str, limit: int) -> str:
    """`text` as a part of a line, blanks folded; beyond `limit` characters, our mark is at its end.

    Within a line, so that it may be laid out again: what begins a line would be quoted there as a forged mark.
    """
    told = folded(text)
    return told if len(told) <= limit else f"{told[:limit]} {left_out(f'{len(told) - limit:,} characters')}"


def folded(text: str) -> str:
    """`text` on one line: blanks, and what cannot be printed, as single blanks."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())
