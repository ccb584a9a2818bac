"""Attempts: every try at a request, recorded before it begins and after it ends.

Kind `attempt`, keys `<request digest>/<ordinal>/started` and `.../ended`. What was in flight at a crash is started and
not ended. A price stands in the final record, or here when there is none.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome, Usage, total_usage
from harness2_core.model.records import AttemptEnded, AttemptStarted
from harness2_core.model.serial import dump, load

from .policy import CANCELLED

KIND: Final = "attempt"


@frozen
class Attempt:
    started: AttemptStarted
    ended: AttemptEnded | None

    @property
    def in_flight(self) -> bool:
        """Begun, and nobody wrote its end: it runs, or its worker was killed."""
        return self.ended is None


def begin(store: Store, request: Digest) -> int:
    """Records that a try begins, and returns its ordinal, from 1."""
    ordinal = len(attempts_of(store, request)) + 1
    while not store.put(
        KIND, _key(request, ordinal, "started"), dump(AttemptStarted(request, ordinal, host(), utc_now()))
    ):
        ordinal += 1
    return ordinal


def end(
    store: Store,
    request: Digest,
    ordinal: int,
    outcome: Outcome,
    cause: str = "",
    note: str = "",
    usage: Usage | None = None,
) -> None:
    """Records how the try ended. `usage` only when no final record holds it."""
    record = AttemptEnded(request, ordinal, outcome, cause, note, usage, utc_now())
    store.put(KIND, _key(request, ordinal, "ended"), dump(record))


def attempts_of(store: Store, request: Digest) -> Sequence[Attempt]:
    """All tries at a request, in order."""
    found: list[Attempt] = []
    while True:
        ordinal = len(found) + 1
        started = store.get(KIND, _key(request, ordinal, "started"))
        if started is None:
            return found
        key = _key(request, ordinal, "ended")
        ended = store.get(KIND, key)
        found.append(
            Attempt(
                load(started, AttemptStarted, _key(request, ordinal, "started")),
                None if ended is None else load(ended, AttemptEnded, key),
            )
        )


def lost_attempts(store: Store, request: Digest, cause: str = "") -> int:
    """Tries that were lost (by `cause`, or by any), not those that a kill or a cancel cut short.

    The policy table counts each cause by itself: waiting out a rate limit uses up no patience with the network.
    """
    ends = [attempt.ended for attempt in attempts_of(store, request)]
    causes = [ended.cause for ended in ends if ended is not None and ended.cause and ended.cause != CANCELLED]
    return causes.count(cause) if cause else len(causes)


def spent_on_lost(store: Store, request: Digest) -> Usage:
    """What tries that came to nothing have cost. Of those in flight at a crash nothing is known."""
    ends = [attempt.ended for attempt in attempts_of(store, request)]
    return total_usage(ended.usage for ended in ends if ended is not None and ended.usage is not None)


def utc_now() -> str:
    """Now, UTC, ISO 8601, to the second."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def host() -> str:
    """This machine's name, for records."""
    return platform.node()


def _key(request: Digest, ordinal: int, what: str) -> str:
    return f"{request}/{ordinal:04d}/{what}"
