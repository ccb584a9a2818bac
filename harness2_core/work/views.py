"""Core's view of a deliverable: UTF-8 text as it is, anything else as one line that says what it is.

Views are what models read. `name.txt` is the view of the deliverable `name`; an adapter that renders documents puts
its own in their place, file by file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.manifest import Entry, Manifest

from .keeping import Kept

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document of the older kind"),
    (b"\x1f\x8b", "gzip data"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
)


def text_views(store: Store, kept: Kept) -> Manifest:
    """One view a deliverable. A text's view is the same blob."""
    views: dict[str, Entry] = {}
    for name, entry in kept.manifest.entries.items():
        views[view_name(name, views)] = entry if name in kept.texts else _said(store, name, entry, kept.heads)
    return _manifest(views)


def overlaid(views: Manifest, rendered: Mapping[str, Entry]) -> Manifest:
    """Core's views with an adapter's in their place and beside them."""
    return _manifest({**views.entries, **rendered})


def view_name(name: str, taken: Mapping[str, object]) -> str:
    """`<name>.txt`, unless that is a name already taken."""
    view = f"{name}.txt"
    while view in taken:
        view = f"{view}.txt"
    return view


def _manifest(views: Mapping[str, Entry]) -> Manifest:
    """A file `a.txt` (the view of `a`) and a directory `a.txt/` (of deliverables) cannot both be: the file moves."""
    directories = {"/".join(path.split("/")[:end]) for path in views for end in range(1, path.count("/") + 1)}
    placed: dict[str, Entry] = {}
    for path, entry in sorted(views.items()):
        name = path
        while name in directories or (name != path and (name in views or name in placed)):
            name = f"{name}.txt"
        placed[name] = entry
    return Manifest(placed)


def _said(store: Store, name: str, entry: Entry, heads: Mapping[str, bytes]) -> Entry:
    head = heads.get(name, b"")
    kind = next((words for signature, words in _SIGNATURES if head.startswith(signature)), "binary data")
    line = f"[harness2: {name!r} is {kind}, {entry.size:,} bytes, SHA-256 {entry.digest}]\n".encode()
    return Entry(store.put_blob(line), len(line))
