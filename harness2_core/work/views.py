"""Core's view of a deliverable: UTF-8 text as it is, anything else as one line that says what it is.

Views are what models read. `name.txt` is the view of the deliverable `name`; an adapter that renders documents puts
its own in their place, file by file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.paths import folded

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
    """Views under names of their own, on a system that folds case and Unicode forms too.

    A file `a.txt` (the view of `a`) and a directory `a.txt/` (of deliverables) cannot both be: the file moves. So does
    `a.TXT` beside `a.txt`.
    """
    directories = {folded("/".join(path.split("/")[:end])) for path in views for end in range(1, path.count("/") + 1)}
    wanted = {folded(path) for path in views}
    placed: dict[str, Entry] = {}
    taken: set[str] = set()
    for path, entry in sorted(views.items()):
        name, tries = path, 1
        while folded(name) in directories or folded(name) in taken or (name != path and folded(name) in wanted):
            tries += 1
            name = _beside(path, tries)
        placed[name] = entry
        taken.add(folded(name))
    return Manifest(placed)


def _beside(path: str, number: int) -> str:
    """Another name for `path`, with the same suffix: by it readers tell an image from a text."""
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return f"{folder}{slash}" + (f"{stem}~{number}.{suffix}" if stem and dot else f"{name}~{number}")


def _said(store: Store, name: str, entry: Entry, heads: Mapping[str, bytes]) -> Entry:
    head = heads.get(name, b"")
    kind = next((words for signature, words in _SIGNATURES if head.startswith(signature)), "binary data")
    line = f"[harness2: {name!r} is {kind}, {entry.size:,} bytes, SHA-256 {entry.digest}]\n".encode()
    return Entry(store.put_blob(line), len(line))
