"""Two runs that ended alike have equal records: here is what that means, for tests and benchmarks.

Compared are all records but attempts, claims and what only speeds things up, without the keys `*_at`, `elapsed_ms` and
`host`; blobs are compared by the digests that records hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Final

from harness2_core.api import Store
from harness2_core.model.canonical import Json, canonical
from harness2_core.work import attempts

KINDS: Final = ("rollout", "session", "grade", "bases", "view", "mode", "adoption")
_VOLATILE: Final = ("elapsed_ms", "host")


def comparable(store: Store, kinds: Collection[str] = KINDS) -> Mapping[tuple[str, str], bytes]:
    """(kind, key) -> what must be equal of the record."""
    found = {}
    for kind in kinds:
        for key, _ in store.scan(kind):
            data = store.get(kind, key)
            assert data is not None
            found[kind, key] = canonical(_stable(json.loads(data)))
    return found


def paid_more_than_once(store: Store) -> tuple[str, ...]:
    """Requests that were begun again although an attempt at them had come to a final end."""
    wrong = []
    for kind in ("rollout", "session", "grade"):
        for key, _ in store.scan(kind):
            tries = attempts.attempts_of(store, key)
            finals = [index for index, item in enumerate(tries) if item.ended is not None and not item.ended.cause]
            if finals and finals[0] != len(tries) - 1:
                wrong.append(key)
    return tuple(wrong)


def _stable(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _stable(item) for key, item in value.items() if key not in _VOLATILE and not key.endswith("_at")}
    if isinstance(value, list):
        return [_stable(item) for item in value]
    return value
