"""An audit for people: long runs of words of the grader's files that turn up where an agent or improver wrote.

Looked for after the task, in the rollout's transcript and in the harness that it ran; runs that the task itself holds
do not count. What was delivered is not compared: a right answer may well be the expected file, word for word. A flag
changes no score and reaches no model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.manifest import Manifest
from harness2_core.model.records import Rollout

from .trees import flatten, read_blob, read_card, read_manifest

WORDS: Final = 12
"""Words in a row. Shorter runs are equal by chance, longer ones are hardly written twice."""
LONGEST_BYTES: Final = 2_000_000
"""Larger files are data, and are left out."""
FLAGS: Final = 5
"""Flags kept of one grading."""

_WORD: Final = re.compile(r"\w+")


def overlaps(grader: Iterable[str], task: Iterable[str], seen: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each place (name -> text) of `seen` that holds a run of `grader` which `task` does not."""
    known = set[tuple[str, ...]]().union(*(_runs(text) for text in task))
    telling = {run for text in grader for run in _runs(text)} - known
    found = []
    for name, text in seen.items():
        run = next((run for run in _runs(text) if run in telling), None) if telling else None
        if run is not None:
            found.append(f"{name} holds words of the grader's files: {' '.join(run)!r}")
    return tuple(found[:FLAGS])


def audit(store: Store, task: Digest, rollout: Rollout, grader: Digest) -> tuple[str, ...]:
    """The flags of one rollout, read from the store."""
    grader_texts = tuple(_texts(store, read_manifest(store, grader)).values())
    if not grader_texts:
        return ()
    task_texts = _texts(store, read_manifest(store, read_card(store, task).material)).values()
    seen = {}
    if store.has_blob(rollout.transcript.digest):
        seen["the transcript"] = _text(store, rollout.transcript.digest)
    if store.has_blob(rollout.request):
        tree = json.loads(read_blob(store, rollout.request))["rollout"]["tree"]
        seen |= {f"the harness's {path}": text for path, text in _texts(store, read_manifest(store, tree)).items()}
    return overlaps(grader_texts, task_texts, seen)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return zip(*(words[start:] for start in range(WORDS)), strict=False)


def _texts(store: Store, manifest: Manifest) -> dict[str, str]:
    files = flatten(store, manifest)
    return {path: _text(store, e.digest) for path, e in files.items() if e.size <= LONGEST_BYTES}


def _text(store: Store, digest: Digest) -> str:
    return read_blob(store, digest).decode("utf-8", "replace")
