"""Signals of a running sweep: SIGINT and SIGTERM ask to stop, a second one ends paid work too.

The handlers only set a mark; they are taken off again when the block ends. In a thread other than the main one, where
Python allows no handlers, nothing is set.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from harness2_core.sweep.stop import Stop

from .terminal import warn


@contextmanager
def asked_by_signals(stop: Stop) -> Iterator[Stop]:
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handler(number: int, frame: FrameType | None) -> None:
        stop.ask(number)
        if stop.level == 1:
            warn("stopping: nothing more is started, running work is seen out; once more ends it at once")
        else:
            warn("ending running work; what was in flight is asked for again by the next run")

    former = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, old in former.items():
            signal.signal(number, old)
