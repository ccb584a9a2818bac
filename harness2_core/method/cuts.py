"""What is left out when observations outgrow a session's workspace: the biggest items first, whoever made them.

A rule by sizes alone, so that it is the same whatever order things were finished in, and so that no text is read for
it. The task's own inputs have a cap apart, far above that of real tasks: a session needs them to judge by. Harnesses
are never cut: their surface has caps.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from attrs import field, frozen

from harness2_core.model.check import at_least
from harness2_core.model.manifest import Manifest

IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"})


@frozen
class Caps:
    """Limits of one evidence. `bytes_seen` counts transcripts and views together, under every path they appear at."""

    bytes_seen: int = field(default=20_000_000, validator=at_least(1))
    files: int = field(default=500, validator=at_least(1))
    """Views, and names of deliverables, shown of one rollout."""
    images: int = field(default=8, validator=at_least(0))
    """Images shown of one rollout."""
    note_chars: int = field(default=20_000, validator=at_least(1))
    """Characters of one stage's notes."""
    diff_chars: int = field(default=200_000, validator=at_least(1))
    """Characters of one harness's diff; the harness itself lies beside it."""
    input_bytes: int = field(default=500_000_000, validator=at_least(1))
    """Bytes of a task's inputs."""


def too_much(sizes: Mapping[str, int], limit: int) -> frozenset[str]:
    """The paths to leave out so that the rest is at most `limit` bytes: biggest first, then in path order."""
    gone: set[str] = set()
    total = sum(sizes.values())
    for path in sorted(sizes, key=lambda path: (-sizes[path], path)) if total > limit else ():
        if total <= limit:
            break
        gone.add(path)
        total -= sizes[path]
    return frozenset(gone)


@lru_cache(256)  # each stage of a task shows the same rollouts
def too_many(views: Manifest, caps: Caps) -> frozenset[str]:
    """The views of one rollout beyond its number of images and files, in path order."""
    images = [path for path in views.entries if is_image(path)]
    gone = set(images[caps.images :])
    kept = [path for path in views.entries if path not in gone]
    return frozenset(gone.union(kept[caps.files :]))


def is_image(path: str) -> bool:
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return dot > 0 and name[dot:].lower() in IMAGES
