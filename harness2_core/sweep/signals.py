"""Signals of a running sweep: SIGINT and SIGTERM ask to stop, a second one ends paid work too, a third leaves at once.

The handlers set a mark and write a line; they are taken off again when the block ends. In a thread other than the main
one, where Python allows no handlers, nothing is set. Whoever leaves at once leaves as a killed process does: the state
is saved, and supervisors end their programs when they see that it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from harness2_core.model.exits import ended_by

from .stop import Stop


def tell_at_once(text: str) -> None:
    """A line on standard error, past its buffer: the handler may have interrupted somebody who was writing to it."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), f"{text}\n".encode())


@contextmanager
def asked_by_signals(stop: Stop, tell: Callable[[str], None] = tell_at_once) -> Iterator[Stop]:
    """Signals ask `stop` while the block runs. `tell` gets what the user should know, in the handler: it must take no
    lock. What is said before leaving at once is written past it."""
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handler(number: int, frame: FrameType | None) -> None:
        if stop.level >= 2:  # whatever hangs, such as a plugin that answers no more
            tell_at_once("left at once; the next run goes on from here")
            os._exit(ended_by(number))
        stop.ask(number)
        if stop.level == 1:
            tell("stopping: nothing more is started, running work is seen out; once more ends it at once")
        else:
            tell("ending running work; what was in flight is asked for again by the next run")

    former = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, old in former.items():
            signal.signal(number, old)
