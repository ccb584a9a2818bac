"""The files of a small benchmark to start from, as `harness2 init tasks DIR` lays them out."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

FOLDER = "starter"


def starter_files() -> Mapping[str, str]:
    """POSIX path -> text."""
    return dict(_below(resources.files(__package__) / FOLDER, ""))


def _below(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name == "__pycache__":
            continue
        path = f"{prefix}{entry.name}"
        found += _below(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_text(encoding="utf-8"))]
    return found
