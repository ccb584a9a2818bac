"""The example tasks as files of the distribution, and a copy of them that can be looked at and changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness2_core.api import ConfigError

EXAMPLES: Final = Path(__file__).parent / "examples"
TASKS: Final = EXAMPLES / "tasks"

_ONLY_HERE: Final = ("make_*.py", "check_*.py")
"""At the top of the examples: what their files were made with."""


def copy_to(folder: Path) -> tuple[str, ...]:
    """Copies the examples into `folder` and returns their paths below it.

    `ConfigError` when it exists and is not an empty folder: nothing of a user's is ever written over.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise ConfigError(f"{folder} exists already and is not an empty folder", "name a folder that does not exist")
    copied = tuple(example_files())
    for path in copied:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((EXAMPLES / path).read_bytes())
    return copied


def example_files() -> Iterator[str]:
    """POSIX paths of what a copy of the examples has, sorted."""
    found = []
    for directory, folders, names in os.walk(EXAMPLES):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [Path(directory, name).relative_to(EXAMPLES) for name in names]
    for path in sorted(path.as_posix() for path in found):
        if "/" in path or not any(Path(path).match(pattern) for pattern in _ONLY_HERE):
            yield path


def example_domains() -> tuple[str, ...]:
    """The domains of the examples, sorted."""
    return tuple(sorted(path.parent.name for path in TASKS.glob("*/playbook.toml")))
