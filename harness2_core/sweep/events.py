"""Events go to listeners and to `events.jsonl` on one thread of their own: nobody who listens can hold up the sweep.

A listener that raises or lags behind is dropped with a notice. Each event is one line, written whole, so that several
processes may append to one log; half a line that a killed process left is ended before the next. A shared lock on the
log lasts as long as its sweep: it tells a watcher in another process whether a sweep without an end still runs.
"""

from __future__ import annotations

import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Final, TypeAlias

from harness2_core.model.canonical import Digest, canonical
from harness2_core.model.events import Happened
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.serial import plain

from .event_log import hold
from .graph import Key

Listener: TypeAlias = Callable[[Happened], None]
Later: TypeAlias = Callable[[], Mapping[str, str]]
Facts: TypeAlias = Mapping[str, str] | Later
"""Those that must be read or computed come as a function, which is called on the events' thread."""

SLOWEST_SECONDS: Final = 5.0
"""A listener that takes longer over one event is dropped."""
GATHER_SECONDS: Final = 0.02
"""Events are told in handfuls this far apart: a thread that woke up for each would hold up those that work."""
WAITING: Final = 100_000
"""Events that may wait to be told; those beyond it are counted, and the user hears how many there were."""

_Told: TypeAlias = tuple[str, str, Key, Digest, Facts]
"""What, when, of which node, of which request: the event is made of it on the events' thread."""
_NONE: Final[FrozenMap[str]] = FrozenMap()
_NOBODY: Final = Key("", "")


def utc_now() -> str:
    """ISO 8601, to the millisecond."""
    now = time.time_ns() // 1_000_000
    return f"{_second(now // 1000)}.{now % 1000:03}Z"


@lru_cache(4)
def _second(since_1970: int) -> str:
    return datetime.fromtimestamp(since_1970, UTC).strftime("%Y-%m-%dT%H:%M:%S")


class Events:
    """Use as a context manager; `tell` never blocks."""

    def __init__(
        self, log: Path | None, listeners: Sequence[tuple[str, Listener]], notice: Callable[[str], None]
    ) -> None:
        self._log = log
        self._listeners = list(listeners)
        self._notice = notice
        self._queue: queue.SimpleQueue[_Told | None] = queue.SimpleQueue()
        self._sweep = secrets.token_hex(4)
        self._thread = threading.Thread(target=self._deliver, name="harness2-events", daemon=True)
        self._closing = threading.Event()
        self._busy = ""
        self.dropped = 0
        """Events that nobody was told of."""

    def __enter__(self) -> Events:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._closing.set()
        self._thread.join(SLOWEST_SECONDS * 2)
        if self._thread.is_alive():
            self._say(f"listener {self._busy} has not come back: events after that one are lost")
        if self.dropped:
            self._say(f"{self.dropped} events came faster than they could be told, and are missing")

    def tell(self, what: str, key: Key | None = None, request: Digest = "", facts: Facts | None = None) -> None:
        if self._queue.qsize() >= WAITING:
            self.dropped += 1
            return
        self._queue.put((what, utc_now(), key or _NOBODY, request, facts or _NONE))

    def _deliver(self) -> None:
        stream = self._opened()
        try:
            more = True
            while more:
                handful, more = self._handful()
                events = [self._event(*told) for told in handful]
                if stream is not None and not self._written(stream, events):
                    stream.close()
                    stream = None
                for event in events:
                    for name, listener in tuple(self._listeners):
                        self._tell_one(name, listener, event)
        finally:
            if stream is not None:
                stream.close()

    def _handful(self) -> tuple[list[_Told], bool]:
        """What there is to tell, after waiting for the first of it; and whether more may come."""
        told = self._queue.get()
        self._closing.wait(GATHER_SECONDS)
        handful = []
        while told is not None:
            handful.append(told)
            if self._queue.empty():
                return handful, True
            told = self._queue.get()
        return handful, False

    def _event(self, what: str, at: str, key: Key, request: Digest, facts: Facts) -> Happened:
        try:
            known = texts(facts() if callable(facts) else facts)
        except Exception as error:
            self._say(f"what {what} comes to cannot be told: {error}")
            known = _NONE
        return Happened(what, at, key.task, key.mode, key.label, key.what, request, known, self._sweep)

    def _opened(self) -> FileIO | None:
        if self._log is None:
            return None
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            stream = FileIO(self._log, "a+")
            hold(stream)
            if stream.seek(0, os.SEEK_END):
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
        except OSError as error:
            self._say(f"{self._log} cannot be written ({error.strerror}): what happens is not logged")
            return None
        return stream

    def _written(self, stream: FileIO, events: Sequence[Happened]) -> bool:
        lines = b"".join(canonical(plain(event)) + b"\n" for event in events)
        try:
            stream.write(lines)  # one call, not buffered: a line of another stays whole
        except OSError as error:
            self._say(f"{self._log} cannot be written ({error.strerror}): what follows is not logged")
            return False
        return True

    def _tell_one(self, name: str, listener: Listener, event: Happened) -> None:
        began, self._busy = time.monotonic(), name
        try:
            listener(event)
        except Exception as error:
            why = f"it raised {type(error).__name__}: {error}"
        else:
            took = time.monotonic() - began
            if took <= SLOWEST_SECONDS:
                return
            why = f"it took {took:.0f} s over one event"
        self._listeners.remove((name, listener))
        self._say(f"listener {name} was dropped: {why}")

    def _say(self, text: str) -> None:
        with suppress(Exception):  # where nobody hears it any more, there is nobody to tell
            self._notice(text)
