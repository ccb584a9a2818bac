"""The experiment's ledger: what has been begun and paid for it, by any process and any invocation.

Counted from the truth: attempts tell which requests were begun, records and lost attempts tell what they cost. Nothing
is written, so nothing can disagree. What this process begins is known at once; what others begin is looked for now and
then.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection
from decimal import Decimal
from typing import Final

from attrs import define, field, frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.errors import StoreError
from harness2_core.work import attempts

from .archive import Archive
from .spending import usage_of
from .study import Study

SCAN_SECONDS: Final = 2.0
"""How long what others begin may go unseen. Reservations are exact: this bounds only the hard stop."""


@frozen
class Spent:
    """`usd` is what is known; `unpriced` counts requests whose price is not. `in_flight` are running now, anywhere."""

    rollouts: int = 0
    sessions: int = 0
    in_flight: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0
    mean_usd: dict[str, Decimal] = field(factory=dict)
    """Kind -> mean price of one request, where known."""


@define
class _Entry:
    kind: str
    usd: Decimal | None = None
    """Known price so far."""
    settled: bool = False
    ours: bool = False
    running: bool = True
    """False for what was begun by a process that is no more: it counts as begun, and costs nothing now."""


class Ledger:
    """Safe for threads. `namespaces` are those of the experiment's modes, the home one included."""

    def __init__(self, archive: Archive, namespaces: Collection[str]) -> None:
        self._archive = archive
        self._namespaces = frozenset(namespaces)
        self._seen: dict[Digest, _Entry | None] = {}
        """Begun requests; `None` for those of other experiments in the same store."""
        self._lock = threading.Lock()
        self._scanned = float("-inf")

    def begin(self, request: Digest, kind: str) -> None:
        """This process is about to start a request: it counts from now on."""
        with self._lock:
            entry = self._seen.get(request) or _Entry(kind)
            entry.ours = entry.running = True
            self._seen[request] = entry

    def has_begun(self, request: Digest) -> bool:
        """Whether it was begun before, here or by another process: then it is counted already."""
        with self._lock:
            return self._seen.get(request) is not None

    def spent(self) -> Spent:
        """What is known now."""
        with self._lock:
            if time.monotonic() - self._scanned >= SCAN_SECONDS:
                self._find_others()
                self._scanned = time.monotonic()
            self._settle()
            entries = [entry for entry in self._seen.values() if entry is not None]
        priced: dict[str, list[Decimal]] = {}
        for entry in entries:
            if entry.settled and entry.usd is not None:
                priced.setdefault(entry.kind, []).append(entry.usd)
        return Spent(
            rollouts=sum(entry.kind == "rollout" for entry in entries),
            sessions=sum(entry.kind == "session" for entry in entries),
            in_flight=sum(entry.running and not entry.settled for entry in entries),
            usd=sum((entry.usd for entry in entries if entry.usd is not None), Decimal(0)),
            unpriced=sum(entry.settled and entry.usd is None for entry in entries),
            mean_usd={kind: sum(found, Decimal(0)) / len(found) for kind, found in priced.items()},
        )

    def _find_others(self) -> None:
        for key, _ in self._archive.store.scan(attempts.KIND):
            digest = key.partition("/")[0]
            if digest not in self._seen:
                self._seen[digest] = self._entry(digest)
        for digest, entry in self._seen.items():
            if entry is not None and not entry.settled and not entry.ours:
                with self._archive.store.claim(digest) as free:
                    entry.running = not free

    def _settle(self) -> None:
        for digest, entry in self._seen.items():
            if entry is None or entry.settled:
                continue
            entry.settled = self._archive.has(entry.kind, digest)
            usages = usage_of(self._archive, entry.kind, (digest,))
            known = [Decimal(usage.usd) for usage in usages if usage.usd is not None]
            entry.usd = sum(known, Decimal(0)) if known or not usages else None

    def _entry(self, digest: Digest) -> _Entry | None:
        try:
            (kind, request), *_ = json.loads(self._archive.text(digest)).items()
        except (StoreError, ValueError):
            return None  # its request was pruned from the store: it cannot be told whose it was
        namespace = str(request.get("draw", "")).partition("/")[0]
        return _Entry(kind) if namespace in self._namespaces else None


def ledger_of(study: Study) -> Ledger:
    """The ledger of a study's experiment, with all its modes."""
    modes = (str(study.namespace(mode)) for mode in study.experiment.plans)
    return Ledger(study.archive, {str(study.home), *modes})
