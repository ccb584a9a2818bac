"""Whether there is room for a run: a directory that can be written, and a disk that is not nearly full."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


def room_problems(runs: Path, min_free_mb: int) -> Iterator[str]:
    """What is in the way, with its remedy. Leaves nothing behind; makes the directory when it is missing."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=runs):
            pass
        free = shutil.disk_usage(runs).free >> 20
    except OSError as error:
        yield f"the runs directory {runs} cannot be written: {error.strerror}; mend its permissions, or give --runs"
        return
    if free < min_free_mb:
        yield (
            f"the disk of the runs directory {runs} has {free} MiB left, and a run wants {min_free_mb}; make room, "
            "give --runs on another disk, or lower min_free_mb under [run]"
        )
