"""`executor_engine`: an engine from any `concurrent.futures.Executor`."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future

from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.requests import request_digest

from .runtime import Call, Engine, Work


def executor_engine(executor: Executor, *, cancel: Callable[[Digest], None] | None = None) -> Engine:
    """An engine that submits to `executor` and owns it.

    Work that has not started is cancelled in the executor; `cancel` ends what runs (default: a mark in this process,
    which the worker's supervisor watches; give one of your own for workers in other processes or on other machines).
    """
    return _ExecutorEngine(executor, cancel)


cancelled_here: set[tuple[str, Digest]] = set()
"""(runs directory, request) of work in this process that is no longer wanted. A mark goes when its work is over.

With the directory, since two sweeps of one process may ask for the same, each for its own records.
"""


def is_cancelled(work: Assignment, request: Digest) -> bool:
    """Whether this request of `work` is marked: who gave it does not want it any more."""
    return (work.runs, request) in cancelled_here


class _ExecutorEngine:
    def __init__(self, executor: Executor, cancel: Callable[[Digest], None] | None) -> None:
        self._executor = executor
        self._cancel = cancel
        self._done: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._work: dict[Work, Assignment] = {}
        """What `wait` has not reported yet."""
        self._digests: dict[Work, tuple[Digest, ...]] = {}
        """Of its requests, once something is cancelled: `submit` is called by the scheduler, which computes nothing."""
        self._unwanted: set[Digest] = set()

    def submit(self, call: Call, work: Assignment) -> Work:
        try:
            future: Work = self._executor.submit(call, work)
        except BrokenExecutor as error:  # a pool whose process died refuses all work: what befell a worker, not us
            future = Future()
            future.set_exception(error)
        self._work[future] = work
        future.add_done_callback(self._done.put)
        return future

    def wait(self, seconds: float | None) -> Sequence[Work]:
        if seconds is None and not self._work:
            return []  # nothing that could ever be done
        done: list[Work] = []
        try:
            done.append(self._done.get(timeout=seconds) if seconds is None or seconds > 0 else self._done.get_nowait())
            while True:
                done.append(self._done.get_nowait())
        except queue.Empty:
            pass
        for future in done:
            self._forget(future)
        return done

    def now(self) -> float:
        return time.monotonic()

    def cancel(self, request: Digest) -> None:
        for future, work in self._work.items():
            digests = self._digests_of(future)
            if request in digests and not future.done():
                self._unwanted.add(request)
                # A batch is one piece of work: before it starts, it goes only when none of its draws is wanted.
                if not (self._unwanted.issuperset(digests) and future.cancel()):
                    self._end(work.runs, request)

    def close(self) -> None:
        for future in tuple(self._work):
            for request in self._digests_of(future):
                self.cancel(request)
        self._executor.shutdown(wait=True, cancel_futures=True)
        for future in tuple(self._work):
            self._forget(future)

    def _end(self, runs: str, request: Digest) -> None:
        if self._cancel is None:
            cancelled_here.add((runs, request))
        else:
            self._cancel(request)

    def _forget(self, future: Work) -> None:
        """Takes back the marks with the work, or they would end the next attempt at the same request."""
        work, digests = self._work.pop(future, None), self._digests.pop(future, ())
        if work is not None:
            self._unwanted.difference_update(digests)
            cancelled_here.difference_update((work.runs, digest) for digest in digests)

    def _digests_of(self, future: Work) -> tuple[Digest, ...]:
        if future not in self._digests:
            self._digests[future] = tuple(map(request_digest, self._work[future].requests))
        return self._digests[future]


def outcome_of(future: Work, requests: Sequence[Digest]) -> tuple[Ended, ...]:
    """What a finished future says of each of `requests`, once; a loss for those it does not speak of: workers die."""
    note = "the engine cancelled it"
    ended: dict[Digest, Ended] = {}
    if not future.cancelled():
        error = future.exception()
        for item in () if error is not None else future.result():
            if item.request in requests:
                ended.setdefault(item.request, item)
        note = f"the worker died: {type(error).__name__}: {error}" if error is not None else "the worker left it out"
    for digest in requests:
        ended.setdefault(digest, Ended(digest, False, "worker", 0, note))
    return tuple(ended.values())
