"""The last look before a session starts: its evidence holds no file of the grader's, by where content comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from harness2_core.api.adapters import Adapter
from harness2_core.api.runtime import Store
from harness2_core.method.provenance import breaches
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import Harness2Error
from harness2_core.model.manifest import Manifest
from harness2_core.model.records import Rollout
from harness2_core.work.material import grader_manifest

from .study import Study


class Breach(Harness2Error):
    """Grader-side content was about to reach a model. It stops the item, not the task."""


def guarded(study: Study, task: str, evidence: Manifest, rollouts: Iterable[Rollout]) -> None:
    """Raises `Breach` naming the paths; the evidence must be in the store."""
    sealed = {entry.digest for rollout in rollouts for entry in rollout.sealed.entries.values()}
    grader = study.grader(task)
    if not sealed and not grader:
        return
    found = breaches(study.archive.flat(evidence), grader, sealed)
    if found:
        raise Breach(
            f"the evidence of {task} holds grader-side content: {', '.join(found[:8])}",
            "mend the adapter: what it gives as task files or deliverables must not be the grader's",
        )


def grader_digests(store: Store, adapter: Adapter) -> Callable[[str], frozenset[Digest]]:
    """Task -> digests of the grader-side files; each task's are read once in a while."""

    @lru_cache(256)
    def digests(task: str) -> frozenset[Digest]:
        manifest = grader_manifest(store, adapter, task)
        return frozenset(entry.digest for entry in manifest.entries.values())

    return digests
