"""Harness trees and manifests in the store."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, TypeGuard

from harness2_core.api.runtime import Store, TakesMany
from harness2_core.model.acceptance import tree_of
from harness2_core.model.bench import TaskCard
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import Damaged
from harness2_core.model.manifest import Entry, Manifest, decode_manifest
from harness2_core.model.serial import from_plain
from harness2_core.model.tree import HarnessTree

_CACHED_BYTES: Final = 64 * 1024
"""Longer manifests are decoded anew each time, so that the cache stays small."""


def read_blob(store: Store, digest: Digest) -> bytes:
    """A whole blob, verified; for texts and manifests, not for deliverables of any size."""
    with store.open_blob(digest) as stream:
        return stream.read()


def read_blobs(store: Store, digests: Collection[Digest]) -> Mapping[Digest, bytes]:
    """Many small blobs, verified: at once where the store can."""
    if takes_many(store):
        return store.read_blobs(digests)
    return {digest: read_blob(store, digest) for digest in digests}


def put_blobs(store: Store, blobs: Mapping[Digest, bytes]) -> None:
    """Stores many small blobs, each under its digest: at once where the store can."""
    if takes_many(store):
        store.put_blobs(blobs)
        return
    for data in blobs.values():
        store.put_blob(data)


def put_manifest(store: Store, manifest: Manifest) -> Digest:
    """Stores the manifest itself; the blobs it names are stored by whoever made it."""
    return store.put_blob(manifest.encode())


def read_manifest(store: Store, digest: Digest) -> Manifest:
    data = read_blob(store, digest)
    return _decoded(data) if len(data) <= _CACHED_BYTES else decode_manifest(data)


def put_tree(store: Store, tree: HarnessTree) -> Digest:
    """Stores a harness tree; its digest is the tree's fingerprint."""
    manifest = tree.manifest()
    put_blobs(store, {manifest.entries[path].digest: text.encode() for path, text in tree.files.items()})
    return put_manifest(store, manifest)


def read_tree(store: Store, digest: Digest) -> HarnessTree:
    """The tree stored under `digest`; `InvalidValue` when the manifest is no harness tree."""
    return tree_of(read_files(store, read_manifest(store, digest)))


def read_files(store: Store, manifest: Manifest) -> Mapping[str, bytes]:
    """Path -> content of every file of a manifest, nested ones included."""
    files = flatten(store, manifest)
    found = read_blobs(store, frozenset(entry.digest for entry in files.values()))
    return {path: found[entry.digest] for path, entry in files.items()}


def flatten(store: Store, manifest: Manifest) -> Mapping[str, Entry]:
    """Path -> blob of every file, nested manifests resolved."""
    return dict(_flat(store, manifest, ""))


def read_card(store: Store, digest: Digest) -> TaskCard:
    """The task card that a request names by its digest."""
    data = read_blob(store, digest)
    try:
        return from_plain(json.loads(data)["task"], TaskCard)
    except Exception as error:
        raise Damaged(
            f"task {digest}: what is stored there is no task ({type(error).__name__})",
            "check the store with `harness2 cache verify`",
        ) from error


def _flat(store: Store, manifest: Manifest, prefix: str) -> Iterator[tuple[str, Entry]]:
    for path, entry in manifest.entries.items():
        if path.endswith("/"):
            yield from _flat(store, read_manifest(store, entry.digest), prefix + path)
        else:
            yield prefix + path, entry


def takes_many(store: Store) -> TypeGuard[TakesMany]:
    """Whether `read_blobs` and `put_blobs` are quicker than one after the other."""
    return _kind_takes_many(type(store))


@cache
def _kind_takes_many(kind: type) -> bool:
    """Kept: a look at a protocol takes longer than some puts."""
    return issubclass(kind, TakesMany)


@lru_cache(maxsize=512)
def _decoded(data: bytes) -> Manifest:
    return decode_manifest(data)
