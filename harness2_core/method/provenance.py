"""The guard on evidence: whether it holds grader-side content, told by where content comes from, never by its wording.

A file of a grader is known by its digest, and so is a sealed file of a rollout. What an agent delivered itself is
compared with sealed files only: a right answer may well be byte for byte the expected one, and stopping at that would
both punish it and tell that it is right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from harness2_core.model.canonical import Digest
from harness2_core.model.manifest import Entry

LEAST_BYTES: Final = 32
"""Shorter files are equal by chance too often (`0`, `{}`, a blank line) to tell where they come from."""

_OWN: Final = re.compile(r"(deliverables/[^/]+|pool/[^/]+/deliverables|candidates)/")


def breaches(
    files: Mapping[str, Entry], grader: Collection[Digest], sealed: Collection[Digest] = ()
) -> tuple[str, ...]:
    """The paths of `files` (an evidence or ballot, flat) that hold a grader's file or a sealed one."""
    return tuple(
        path
        for path, entry in sorted(files.items())
        if entry.size >= LEAST_BYTES and (entry.digest in sealed or (entry.digest in grader and not _OWN.match(path)))
    )
