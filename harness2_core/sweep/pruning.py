"""What of a store no experiment of its runs directory refers to any more, and taking it out.

Kept are the records of every experiment that has a `config.json`, and every blob that these records, or blobs that they
lead to, name by digest. A digest in a text that only looks like a reference keeps its blob too: what is kept in error
costs space, what is deleted in error costs a run. Nothing is deleted while a sweep writes to the store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core import HOME
from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import ConfigError, InvalidValue, StoreError
from harness2_core.model.namespace import Namespace, parse_namespace
from harness2_core.work import attempts
from harness2_core.work.material import SIGHTED
from harness2_core.work.trees import read_blob

from .cache import BLOB, BY_NAMESPACE, BY_REQUEST
from .event_log import NAME, held
from .experiment import config_path, read_experiment
from .experiments import begun

_DIGEST: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_LEADS: Final = 64 << 20
"""Bytes above which a blob is no manifest, request or card, and leads nowhere."""


@frozen
class Unused:
    """What nothing refers to. `records` are (kind, key); sizes in bytes."""

    blobs: tuple[Digest, ...]
    records: tuple[tuple[str, str], ...]
    size: int
    kept_blobs: int
    experiments: tuple[str, ...]
    """Those that were looked through."""


def unused(store: Store, runs: Path) -> Unused:
    """Looks, and deletes nothing."""
    homes = begun(runs)
    owned = _owner(frozenset(homes))
    records: list[tuple[str, str]] = []
    size = 0
    roots: set[Digest] = set()
    for home in homes:
        read_experiment(config_path(runs, home))  # of a damaged one nobody knows what it refers to
        roots.update(_digests(config_path(runs, home).read_bytes()))
    for kind in BY_NAMESPACE:
        for key, length in store.scan(kind):
            if owned(key):
                roots.update(_digests(_value(store, kind, key)))
            else:
                records.append((kind, key))
                size += length
    wanted: dict[Digest, bool] = {}
    for kind in BY_REQUEST:
        for key, length in store.scan(kind):
            request = key.partition("/")[0]
            if request not in wanted:
                wanted[request] = _is_wanted(store, request, owned)
            if wanted[request]:
                roots.add(request)
                roots.update(_digests(_value(store, kind, key)))
            else:
                records.append((kind, key))
                size += length
    kept = _reached(store, roots)
    for key, length in store.scan(SIGHTED):
        if not kept.issuperset(_digests(_value(store, SIGHTED, key))):
            records.append((SIGHTED, key))
            size += length
    blobs = []
    for digest, length in store.scan(BLOB):
        if digest not in kept:
            blobs.append(digest)
            size += length
    return Unused(tuple(blobs), tuple(records), size, len(kept), tuple(map(str, homes)))


def prune(store: Store, runs: Path) -> Unused:
    """Deletes what is unused, records before what they refer to.

    `ConfigError` while something runs, and where there is no experiment: then the whole store would go.
    """
    if not begun(runs):
        raise ConfigError(
            f"{runs} holds no experiment, so nothing in the store would be kept",
            "name the runs directory that the store belongs to; to be rid of it all, delete the store itself",
        )
    _nothing_runs(store, runs)
    found = unused(store, runs)
    for kind, key in found.records:
        store.delete(kind, key)
    for digest in found.blobs:
        store.delete(BLOB, digest)
    return found


def _nothing_runs(store: Store, runs: Path) -> None:
    """A sweep stores blobs before anything refers to them: they would be taken for unused."""
    for home in begun(runs):
        if held(runs / "adapt" / str(home) / NAME):
            raise ConfigError(f"the experiment {home} is running", "prune when it has ended")
    for key, _ in store.scan(attempts.KIND):
        request, _, rest = key.partition("/")
        if rest.endswith("/started") and store.get(attempts.KIND, key.removesuffix("started") + "ended") is None:
            with store.claim(request) as free:
                if not free:
                    raise ConfigError(f"work is in flight: request {request}", "prune when it has ended")


def _owner(homes: frozenset[Namespace]) -> Callable[[str], bool]:
    """Whether a key, or a draw, begins with a namespace of one of these experiments."""
    known: dict[str, bool] = {}

    def owned(key: str) -> bool:
        name = key.partition("/")[0].partition("@")[0]
        if name not in known:
            try:
                known[name] = parse_namespace(name).of_mode(HOME) in homes
            except InvalidValue:
                known[name] = True  # not ours to judge
        return known[name]

    return owned


def _is_wanted(store: Store, request: Digest, owned: Callable[[str], bool]) -> bool:
    """Whether a request belongs to one of the experiments; one that cannot be read may."""
    try:
        (body,) = json.loads(read_blob(store, request)).values()
        if body.get("draw"):
            return owned(body["draw"])
        return _is_wanted(store, body["rollout"], owned)
    except (StoreError, ValueError, KeyError, AttributeError):
        return True


def _reached(store: Store, roots: Iterable[Digest]) -> set[Digest]:
    """The blobs that exist among `roots`, and all that they lead to."""
    sizes = dict(store.scan(BLOB))
    reached: set[Digest] = set()
    waiting = list(roots)
    while waiting:
        digest = waiting.pop()
        if digest in reached or digest not in sizes:
            continue
        reached.add(digest)
        if sizes[digest] <= _LEADS:
            data = read_blob(store, digest)
            if data.startswith(b"{"):
                waiting += _digests(data)
    return reached


def _value(store: Store, kind: str, key: str) -> bytes:
    return store.get(kind, key) or b""


def _digests(data: bytes) -> set[Digest]:
    return {found.decode() for found in _DIGEST.findall(data)}
