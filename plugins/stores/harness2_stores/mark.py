"""The file `format` of a store: which provider made it, and in which version. Written before anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness2_core.api import Damaged, StoreError

from .atomic import AtomicFiles
from .failures import explained

VERSION: Final = 1
_FILE: Final = "format"


def is_marked(root: Path, provider: str) -> bool:
    """Whether `root` is a store of this provider; False when nothing is there yet. `StoreError` for any other."""
    path = root / _FILE
    with explained(path):
        try:
            words = path.read_text(encoding="utf-8", errors="replace").split()
        except FileNotFoundError:
            return False
    if words == ["harness2-store", provider, str(VERSION)]:
        return True
    if len(words) == 3 and words[:2] == ["harness2-store", provider]:
        raise StoreError(
            f"{root} is a store of version {words[2]}; this harness2-stores knows version {VERSION}",
            "install the harness2-stores that made it, or set the store's `path` to another directory",
        )
    if len(words) != 3 or words[0] != "harness2-store":
        raise Damaged(
            f"{path} is damaged: it does not say which store {root} is",
            f"if it is a store of {provider}, write `harness2-store {provider} {VERSION}` into that file; else set the "
            "store's `path` to another directory",
        )
    raise StoreError(
        f"{root} was made by {words[1]}, and the store asked for is {provider}",
        "name the store that made it, or set the store's `path` to another directory",
    )


def put_mark(files: AtomicFiles, provider: str) -> None:
    """Marks a new store; when two processes make one at once, the first decides."""
    files.create(f"{files.root}/{_FILE}", f"harness2-store {provider} {VERSION}\n".encode())
    is_marked(files.root, provider)
