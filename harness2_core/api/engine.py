"""`executor_engine`: an engine from any `concurrent.futures.Executor`."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future

from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.requests import request_digest

from .runtime import Call, Engine, Work


def executor_engine(executor: Executor, *, cancel: Callable[[Digest], None] | None = None) -> Engine:
    """An engine that submits to `executor` and owns it.

    Work that has not started is cancelled in the executor; `cancel` ends what runs (default: a mark in this process,
    which the worker's supervisor watches; give one of your own for workers in other processes or on other machines).
    """
    return _ExecutorEngine(executor, cancel or _cancel_here)


def _cancel_here(request: Digest) -> None:
    cancelled_here.add(request)


cancelled_here: set[Digest] = set()
"""Requests whose work in this process is no longer wanted."""


class _ExecutorEngine:
    def __init__(self, executor: Executor, cancel: Callable[[Digest], None]) -> None:
        self._executor = executor
        self._cancel = cancel
        self._done: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._running: dict[Digest, Work] = {}

    def submit(self, call: Call, work: Assignment) -> Work:
        digests = tuple(request_digest(request) for request in work.requests)
        future: Work = self._executor.submit(call, work)
        for digest in digests:
            self._running[digest] = future
        future.add_done_callback(self._done.put)
        return future

    def wait(self, seconds: float | None) -> Sequence[Work]:
        done: list[Work] = []
        try:
            done.append(self._done.get(timeout=seconds) if seconds is None or seconds > 0 else self._done.get_nowait())
            while True:
                done.append(self._done.get_nowait())
        except queue.Empty:
            pass
        for future in done:
            for digest in [digest for digest, running in self._running.items() if running is future]:
                del self._running[digest]
                cancelled_here.discard(digest)
        return done

    def now(self) -> float:
        return time.monotonic()

    def cancel(self, request: Digest) -> None:
        future = self._running.get(request)
        if future is not None and not future.cancel():
            self._cancel(request)

    def close(self) -> None:
        for request in tuple(self._running):
            self.cancel(request)
        self._executor.shutdown(wait=True, cancel_futures=True)


def outcome_of(future: Future[tuple[Ended, ...]], requests: Sequence[Digest]) -> tuple[Ended, ...]:
    """What a finished future says, and a loss for every request that it does not speak of: a worker may die."""
    note = "the engine cancelled it"
    ended: tuple[Ended, ...] = ()
    if not future.cancelled():
        error = future.exception()
        ended = () if error is not None else future.result()
        note = f"the worker died: {type(error).__name__}: {error}" if error is not None else "the worker left it out"
    said = {item.request for item in ended}
    return ended + tuple(Ended(digest, False, "worker", 0, note) for digest in requests if digest not in said)
