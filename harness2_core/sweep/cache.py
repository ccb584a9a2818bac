"""The store as people look after it: how much is in it, and whether its bytes are still those that were put."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen

from harness2_core.api.runtime import Store
from harness2_core.model.errors import Damaged, StoreError
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import run_settings
from harness2_core.work import attempts, grade
from harness2_core.work.material import SIGHTED

from . import budget, votes

BLOB: Final = "blob"
BY_REQUEST: Final = ("rollout", "session", "grade", attempts.KIND, grade.KIND, "unusable")
"""Kinds whose keys begin with a request's digest."""
BY_NAMESPACE: Final = (
    "bases",
    "view",
    "mode",
    "adoption",
    "forgotten",
    "opening",
    votes.KIND,
    budget.KIND,
)
"""Kinds whose keys begin with a namespace."""
KINDS: Final = (*BY_REQUEST, *BY_NAMESPACE, SIGHTED)
"""Every kind of record that core keeps; plugins keep none of their own."""

_CHUNK: Final = 1 << 20


@frozen
class Held:
    """How much there is of a kind; `size` in bytes, without what the store itself adds."""

    kind: str
    count: int
    size: int


@frozen
class Wrong:
    """One thing in the store that is not what was put. `key` is a blob's digest, or a record's key."""

    kind: str
    key: str
    what: str
    remedy: str


def store_of(config: Config, registry: Registry) -> Store:
    """The configured store. No benchmark is needed to look after it."""
    run = run_settings(config)
    name = registry.default("store", run.store)
    return facade.store(registry, name, settings_of(registry, config, "store", name), run.runs)


def stats(store: Store) -> tuple[Held, ...]:
    """Blobs first, then the kinds of records of which there are any."""
    found = []
    for kind in (BLOB, *KINDS):
        sizes = [size for _, size in store.scan(kind)]
        if sizes or kind == BLOB:
            found.append(Held(kind, len(sizes), sum(sizes)))
    return tuple(found)


def verify(store: Store) -> Iterator[Wrong | Held]:
    """Reads every byte. Yields what is wrong as it is found, and at the end of each kind how much was read."""
    count = size = 0
    for digest, expected in store.scan(BLOB):
        count, size = count + 1, size + expected
        try:
            with store.open_blob(digest) as stream:
                while stream.read(_CHUNK):
                    pass
        except StoreError as error:
            yield _wrong(BLOB, digest, error)
    yield Held(BLOB, count, size)
    for kind in KINDS:
        count = size = 0
        for key, expected in store.scan(kind):
            count, size = count + 1, size + expected
            try:
                store.get(kind, key)
            except StoreError as error:
                yield _wrong(kind, key, error)
        yield Held(kind, count, size)


def _wrong(kind: str, key: str, error: StoreError) -> Wrong:
    remedy = error.remedy if isinstance(error, Damaged) or error.remedy else "see that the store can be read"
    return Wrong(kind, key, error.what, remedy)
