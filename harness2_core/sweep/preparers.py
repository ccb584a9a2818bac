"""The threads that prepare for the scheduler: one, and more while that one is held up.

Python runs one thread at a time, so a second one that is always there takes more time than it saves, in changing from
one to the other. But a disk, a store or a plugin that takes its time must not hold up what has nothing to do with it:
while calls wait, and nothing comes back or the processor has little to do, another thread takes some of them.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NoReturn, TypeAlias, TypeVar, final

T = TypeVar("T")

MOST: Final = 4
"""Threads at once, however long calls take."""
GATHER_SECONDS: Final = 0.005
"""What has been done is told in handfuls this far apart, or when nothing more is to be done: each telling wakes the
scheduler, which then wants the interpreter for itself. What is done just before a slow call waits for a look."""
HELD_UP_SECONDS: Final = 0.05
"""Calls that have waited this long, while the processor was idle for more than half of it, are held up."""
STAY_SECONDS: Final = 1.0
"""Another thread goes after this time, or when nothing waits: if it is still of use, one is begun again."""

Finish: TypeAlias = Callable[[], None]
"""Hands over the result of a call, or raises what the call raised."""


@final
class Preparers:
    """Use as a context manager: its end waits for all that was submitted. Used from one thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Finish] | None] = queue.SimpleQueue()
        self._done: deque[Finish] = deque()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._waiting_since = self._busy_since = 0.0
        """When calls began to wait, and what the process had computed by then: seconds of the two clocks."""

    def __enter__(self) -> Preparers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, call: Callable[[], T], then: Callable[[T], None]) -> None:
        """Runs `call` on a thread; `then` gets its result from `finished`, in the caller's own."""

        def run() -> Finish:
            try:
                return partial(then, call())
            except BaseException as error:
                return partial(_raised, error)

        if self._calls.empty():
            self._begin_to_wait()
        if not self._threads:
            self._another(staying=True)
        self._calls.put(run)

    def finished(self, seconds: float) -> Iterator[Finish]:
        """What has been done, after waiting up to `seconds` for it."""
        try:
            self._news.get(timeout=seconds)
        except queue.Empty:
            held_up = not self._done
        else:
            held_up = self._is_held_up()
        if held_up and not self._closed and not self._calls.empty():
            self._another(staying=False)
        while self._done:
            yield self._done.popleft()

    def close(self) -> None:
        """Waits until all that was submitted has been done; `finished(0)` has the rest then."""
        self._closed = True
        self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _begin_to_wait(self) -> None:
        self._waiting_since, self._busy_since = time.monotonic(), time.process_time()

    def _is_held_up(self) -> bool:
        waited = time.monotonic() - self._waiting_since
        if waited < HELD_UP_SECONDS:
            return False
        busy = time.process_time() - self._busy_since
        self._begin_to_wait()
        return busy * 2 < waited

    def _another(self, *, staying: bool) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        if len(self._threads) < MOST:
            thread = threading.Thread(target=self._work, args=(staying,), name=f"harness2-prepare-{len(self._threads)}")
            thread.start()
            self._threads.append(thread)

    def _work(self, staying: bool) -> None:
        began = told = time.monotonic()
        while staying or time.monotonic() - began < STAY_SECONDS:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                self._news.put(None)
                if not staying:
                    return
                call = self._calls.get()
            if call is None:
                self._calls.put(None)  # for the next thread
                return
            self._done.append(call())
            if time.monotonic() - told >= GATHER_SECONDS:
                self._news.put(None)
                told = time.monotonic()
        self._news.put(None)


def _raised(error: BaseException) -> NoReturn:
    raise error
