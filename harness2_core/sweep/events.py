"""Events go to listeners and to `events.jsonl` on one thread of their own: nobody who listens can hold up the sweep.

A listener that raises or lags behind is dropped with a notice.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from harness2_core.model.canonical import Digest, canonical
from harness2_core.model.events import Happened
from harness2_core.model.serial import plain

from .graph import Key

Listener: TypeAlias = Callable[[Happened], None]

SLOWEST_SECONDS: Final = 5.0
"""A listener that takes longer over one event is dropped."""
WAITING: Final = 100_000
"""Events that may wait for the listeners; beyond it they are not told, the log still has them counted."""


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Events:
    """Use as a context manager; `tell` never blocks."""

    def __init__(
        self, log: Path | None, listeners: Sequence[tuple[str, Listener]], notice: Callable[[str], None]
    ) -> None:
        self._log = log
        self._listeners = list(listeners)
        self._notice = notice
        self._queue: queue.Queue[Happened | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._deliver, name="harness2-events", daemon=True)
        self.dropped = 0

    def __enter__(self) -> Events:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join(SLOWEST_SECONDS * 2)

    def tell(
        self, what: str, key: Key | None = None, request: Digest = "", facts: Mapping[str, str] | None = None
    ) -> None:
        event = Happened(
            what,
            utc_now(),
            task=key.task if key else "",
            mode=key.mode if key else "",
            label=key.label if key else "",
            kind=key.what if key else "",
            request=request,
            facts=facts or {},
        )
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self.dropped += 1

    def _deliver(self) -> None:
        stream = None
        if self._log is not None:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            stream = self._log.open("ab")
        try:
            while (event := self._queue.get()) is not None:
                if stream is not None:
                    stream.write(canonical(plain(event)) + b"\n")
                    if self._queue.empty():
                        stream.flush()
                for name, listener in tuple(self._listeners):
                    self._tell_one(name, listener, event)
        finally:
            if stream is not None:
                stream.close()

    def _tell_one(self, name: str, listener: Listener, event: Happened) -> None:
        began = time.monotonic()
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
        self._notice(f"listener {name} was dropped: {why}")
