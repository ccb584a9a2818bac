"""Whether all that a record leads to is still in the store, and how a record goes that has lost some of it.

Blobs may be lost to a power failure, or deleted by a person because they were damaged. A record that leads to one is no
answer any more: the work is asked for again. Told by names, as is the store's own notion of presence: `cache verify`
reads the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.records import EMPTY, RESULTS, Grade, Reply, Rollout
from harness2_core.model.serial import load

from . import attempts, trees
from .policy import CANCELLED


def is_whole(store: Store, kind: str, digest: Digest) -> bool:
    """Whether a request has its record, and the record what it leads to. `kind`: rollout, session or grade."""
    record = _record(store, kind, digest)
    return record is not None and all(_present(store, entry) for entry in _led_to(store, record))


def holds(store: Store, manifest: Digest) -> bool:
    """Whether a manifest, or a tree, is there with every file of it."""
    return all(_present(store, entry) for entry in _of_manifest(store, manifest))


def retire(store: Store, kind: str, digest: Digest) -> None:
    """Takes out a record that is not whole. What it has cost stays, with the attempts. The caller holds the claim."""
    record = _record(store, kind, digest)
    if record is not None:
        ordinal = attempts.begin(store, digest)
        attempts.end(
            store, digest, ordinal, Outcome.LOST, CANCELLED, "what it left is gone from the store", record.usage
        )
        store.delete(kind, digest)


def _record(store: Store, kind: str, digest: Digest) -> Rollout | Reply | Grade | None:
    data = store.get(kind, digest)
    return None if data is None else load(data, RESULTS[kind], f"{kind} {digest}")


def _led_to(store: Store, record: Rollout | Reply | Grade) -> Iterator[Entry]:
    if isinstance(record, Rollout):
        yield from (record.transcript, record.trajectory, record.stream, record.stderr)
        for manifest in (record.deliverables, record.views, record.sealed):
            yield from _of_entries(store, manifest)
    elif isinstance(record, Reply):
        if record.harvested is not None:
            yield from _of_entries(store, record.harvested)
        if record.accepted is not None:
            yield from _of_manifest(store, record.accepted)


def _of_manifest(store: Store, digest: Digest) -> Iterator[Entry]:
    """The manifest itself first: it is read only if it is there."""
    yield Entry(digest, 1)
    if store.has_blob(digest):
        yield from _of_entries(store, trees.read_manifest(store, digest))


def _of_entries(store: Store, manifest: Manifest) -> Iterator[Entry]:
    for path, entry in manifest.entries.items():
        if path.endswith("/"):
            yield from _of_manifest(store, entry.digest)
        else:
            yield entry


def _present(store: Store, entry: Entry) -> bool:
    """Nothing is lost with an empty file, which every store can be given again."""
    return entry == EMPTY or store.has_blob(entry.digest)
