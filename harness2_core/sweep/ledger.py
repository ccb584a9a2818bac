"""The experiment's ledger: what has been begun and paid for it, by any process and any invocation.

Counted from the truth: attempts tell which requests were begun, records and lost attempts tell what they cost. Nothing
is written, so nothing can disagree. What this process begins is known at once; what others begin is looked for now and
then.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from attrs import define, field, frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.errors import StoreError
from harness2_core.model.namespace import parse_namespace
from harness2_core.model.plan import BASE
from harness2_core.model.requests import GradeRequest, Request, kind_of
from harness2_core.work import attempts

from .archive import Archive
from .spending import is_dead, usage_of
from .study import Study

_BASE: Final = re.compile(rf"{BASE}[0-9]+(\.|\Z)")
SCAN_SECONDS: Final = 2.0
"""How long what others begin may go unseen. Reservations are exact: this bounds only the hard stop."""

SLACK_SECONDS: Final = 600
"""What an attempt may take beyond its time limit: to be set up, ended and captured."""


@frozen
class Need:
    """Rollouts and sessions: what a piece of work takes by its plan, or what was begun of it."""

    rollouts: int
    sessions: int


def price_of(need: Need, usd: Mapping[str, Decimal]) -> Decimal:
    """What it costs at prices of one request (kind -> USD); nothing where none is known."""
    none = Decimal(0)
    return usd.get("rollout", none) * need.rollouts + usd.get("session", none) * need.sessions


@frozen
class Spent:
    """`usd` is what is known. `unpriced` counts requests that ended without telling their price, but for those that
    never came about. `in_flight` are running now, anywhere, or wait to be repeated."""

    rollouts: int = 0
    sessions: int = 0
    in_flight: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0
    mean_usd: dict[str, Decimal] = field(factory=dict)
    """Kind -> mean price of one request, where known."""
    least_usd: dict[str, Decimal] = field(factory=dict)
    most_usd: dict[str, Decimal] = field(factory=dict)


@define
class _Entry:
    kind: str
    place: str
    """Task and mode, or task and `base`: as reservations are named."""
    limit_seconds: int = Channel().limit_seconds
    usd: Decimal | None = None
    """Known price so far."""
    dead: bool = False
    """It was lost for good, without a price: there may have been nothing to pay."""
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

    def begin(self, digest: Digest, request: Request) -> None:
        """This process is about to start a request: it counts from now on."""
        with self._lock:
            draw = "" if isinstance(request, GradeRequest) else request.draw
            entry = self._seen.get(digest) or _Entry(kind_of(request), _place(draw))
            entry.ours = entry.running = True
            self._seen[digest] = entry

    def has_begun(self, request: Digest) -> bool:
        """Whether it was begun before, here or by another process: then it is counted already."""
        with self._lock:
            return self._seen.get(request) is not None

    def begun(self) -> Mapping[str, Need]:
        """Task and mode, or task and `base` -> what was begun of it, by anybody."""
        with self._lock:
            self._look()
            found: dict[str, Need] = {}
            for entry in self._seen.values():
                if entry is not None:
                    had = found.get(entry.place, Need(0, 0))
                    found[entry.place] = Need(
                        had.rollouts + (entry.kind == "rollout"), had.sessions + (entry.kind == "session")
                    )
        return found

    def spent(self, but: Digest = "") -> Spent:
        """What is known now. The request `but` is not in flight: it is asked whether it may be begun, once more."""
        with self._lock:
            self._look()
            self._settle()
            flying = sum(e is not None and e.running and not e.settled for d, e in self._seen.items() if d != but)
            entries = [entry for entry in self._seen.values() if entry is not None]
        priced: dict[str, list[Decimal]] = {}
        for entry in entries:
            if entry.settled and entry.usd is not None:
                priced.setdefault(entry.kind, []).append(entry.usd)
        return Spent(
            rollouts=sum(entry.kind == "rollout" for entry in entries),
            sessions=sum(entry.kind == "session" for entry in entries),
            in_flight=flying,
            usd=sum((entry.usd for entry in entries if entry.usd is not None), Decimal(0)),
            unpriced=sum(entry.settled and entry.usd is None and not entry.dead for entry in entries),
            mean_usd={kind: sum(found, Decimal(0)) / len(found) for kind, found in priced.items()},
            least_usd={kind: min(found) for kind, found in priced.items()},
            most_usd={kind: max(found) for kind, found in priced.items()},
        )

    def worked(self, until: str) -> int:
        """Seconds before `until` (a stamp, UTC) in which anything of the experiment ran, by whomever.

        Side by side counts once. What was killed counts up to the last that ended beside it.
        """
        with self._lock:
            self._find_others()
            limits = {digest: entry.limit_seconds for digest, entry in self._seen.items() if entry is not None}
        spans = [span for digest, limit in limits.items() for span in self._spans(digest, limit, _moment(until))]
        total, reached = 0, 0
        for start, end in sorted(spans):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        return total

    def _spans(self, digest: Digest, limit: int, until: int) -> Iterator[tuple[int, int]]:
        """Of each attempt, its beginning and end; none is longer than it may take, wherever clocks were put."""
        for attempt in attempts.attempts_of(self._archive.store, digest):
            start = _moment(attempt.started.started_at)
            end = _moment(attempt.ended.ended_at) if attempt.ended is not None else 0
            if 0 < start < until:
                yield start, max(start, min(end, until, start + limit + SLACK_SECONDS))

    def _look(self) -> None:
        if time.monotonic() - self._scanned >= SCAN_SECONDS:
            self._find_others()
            self._scanned = time.monotonic()

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
            entry.dead = entry.settled and entry.usd is None and is_dead(self._archive, entry.kind, digest)

    def _entry(self, digest: Digest) -> _Entry | None:
        try:
            (kind, request), *_ = json.loads(self._archive.text(digest)).items()
        except (StoreError, ValueError):
            return None  # its request was pruned from the store: it cannot be told whose it was
        draw = str(request.get("draw", ""))
        limit = request.get("channel", {}).get("limit_seconds", Channel().limit_seconds)
        return _Entry(kind, _place(draw), limit) if draw.partition("/")[0] in self._namespaces else None


def _moment(stamp: str) -> int:
    """Seconds since 1970; 0 for what is no stamp."""
    try:
        return int(datetime.fromisoformat(stamp).timestamp())
    except ValueError:
        return 0


def _place(draw: str) -> str:
    """Bases lie in the home namespace, and are nobody's."""
    namespace, _, rest = draw.partition("/")
    task, _, label = rest.rpartition("/")
    return f"{task}/{BASE if _BASE.match(label) else parse_namespace(namespace).mode}" if task else ""


def ledger_of(study: Study) -> Ledger:
    """The ledger of a study's experiment, with all its modes."""
    modes = (str(study.namespace(mode)) for mode in study.experiment.plans)
    return Ledger(study.archive, {str(study.home), *modes})
