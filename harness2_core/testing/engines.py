"""Two engines for tests: `InlineEngine` works at once in the caller's thread, `VirtualEngine` on a clock of its own."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import count
from typing import final

from attrs import field, frozen

from harness2_core.api import Assignment, Call, Digest, InvalidValue, Work, request_digest
from harness2_core.model.requests import Request


@final
class InlineEngine:
    """Runs work inside `submit`. Its clock moves only by what `wait` was asked to wait in vain."""

    def __init__(self) -> None:
        self._done: list[Work] = []
        self._now = 0.0

    def submit(self, call: Call, work: Assignment) -> Work:
        future: Work = Future()
        _complete(future, call, work)
        self._done.append(future)
        return future

    def wait(self, seconds: float | None) -> Sequence[Work]:
        done, self._done = self._done, []
        if not done:
            self._now += max(0.0, seconds or 0.0)
        return done

    def now(self) -> float:
        return self._now

    def cancel(self, request: Digest) -> None:
        """Nothing runs when this can be called."""

    def close(self) -> None:
        """There is nothing to free."""


@final
class VirtualEngine:
    """Runs nothing until its time has come, and never sleeps: `wait` moves the clock to the next completion.

    `duration` gives the seconds that a request takes; a batch takes as long as its longest. The result is computed in
    the thread that waits, at the moment of completion. Equal times complete in the order of submission.
    """

    def __init__(self, duration: Callable[[Request], float]) -> None:
        self._duration = duration
        self._now = 0.0
        self._order = count()
        self._pending: list[_Pending] = []
        self._done: list[Work] = []

    def submit(self, call: Call, work: Assignment) -> Work:
        seconds = max(map(self._duration, work.requests))
        if not 0 <= seconds < math.inf:
            raise InvalidValue(f"a duration of {seconds} seconds", "give a finite number of at least 0")
        future: Work = Future()
        heapq.heappush(self._pending, _Pending(self._now + seconds, next(self._order), future, call, work))
        return future

    def wait(self, seconds: float | None) -> Sequence[Work]:
        if not self._done:
            self._advance(seconds)
        done, self._done = self._done, []
        return done

    def now(self) -> float:
        return self._now

    def cancel(self, request: Digest) -> None:
        """Ends a request's work now; a batch goes on as long as one of its draws is wanted."""
        for item in self._pending:
            if request in item.digests:
                item.unwanted.add(request)
        ended = [item for item in self._pending if item.unwanted.issuperset(item.digests)]
        self._pending = [item for item in self._pending if item not in ended]
        heapq.heapify(self._pending)
        for item in sorted(ended):
            item.future.cancel()
            item.future.set_running_or_notify_cancel()
            self._done.append(item.future)

    def close(self) -> None:
        for item in tuple(self._pending):
            for digest in item.digests:
                self.cancel(digest)

    def _advance(self, seconds: float | None) -> None:
        until = math.inf if seconds is None else self._now + max(0.0, seconds)
        if not self._pending or self._pending[0].at > until:
            if seconds is not None:
                self._now = until
            return
        self._now = self._pending[0].at
        while self._pending and self._pending[0].at <= self._now:
            item = heapq.heappop(self._pending)
            _complete(item.future, item.call, item.work)
            self._done.append(item.future)


@frozen(order=True)
class _Pending:
    at: float
    order: int
    future: Work = field(eq=False)
    call: Call = field(eq=False)
    work: Assignment = field(eq=False)
    unwanted: set[Digest] = field(factory=set, eq=False, init=False)
    digests: frozenset[Digest] = field(eq=False, init=False)

    @digests.default
    def _digests(self) -> frozenset[Digest]:
        return frozenset(map(request_digest, self.work.requests))


def _complete(future: Work, call: Call, work: Assignment) -> None:
    future.set_running_or_notify_cancel()
    try:
        future.set_result(call(work))
    except Exception as error:  # as an executor does: the future tells
        future.set_exception(error)
