"""Whether a session left its evidence as it was laid out.

A sandbox shows it read-only; without one an agent may write anywhere. What it altered bears on nothing but itself,
since evidence is never read back, but an editor that rewrites what it is to learn from is a finding for people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.manifest import Manifest

from .keeping import shown
from .nofollow import chunks, open_regular, walk
from .trees import flatten

_NAMED: Final = 10


def altered(store: Store, evidence: Manifest, workspace: Path, context: str, editable: str = "") -> Iterator[str]:
    """What is changed, gone or new below `context`, but for what lies in `editable`; in words, one each."""
    expected = {f"{context}/{path}": entry for path, entry in flatten(store, evidence).items()}
    for found in walk(workspace, context):
        if editable and (found.path == editable or found.path.startswith(f"{editable}/")):
            continue
        entry = expected.pop(found.path, None)
        if entry is None:
            yield f"{shown(found.path)} is new"
        elif found.kind:
            yield f"{shown(found.path)} is {found.kind} now"
        elif found.size != entry.size or _digest(workspace, found.path) != entry.digest:
            yield f"{shown(found.path)} was changed"
    for path in expected:
        yield f"{shown(path)} is gone"


def as_notes(problems: Iterable[str]) -> tuple[str, ...]:
    """For the record: one note each, up to a number."""
    told = list(problems)
    notes = [f"the evidence was altered: {text}" for text in told[:_NAMED]]
    if len(told) > _NAMED:
        notes.append(f"the evidence was altered: {len(told) - _NAMED:,} files more")
    return tuple(notes)


def _digest(workspace: Path, path: str) -> Digest:
    try:
        hashed = hashlib.sha256()
        for chunk in chunks(open_regular(workspace, path)):
            hashed.update(chunk)
        return hashed.hexdigest()
    except OSError:
        return ""
