"""The log of events as other processes see it: followed while it grows, and whether a sweep still writes to it.

A reader may come at any time: it takes whole lines only, waits for the rest of half a line, passes over what is no
event of this version, and starts anew when the file was replaced or cut.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from harness2_core.model.events import Happened
from harness2_core.model.serial import from_plain

NAME: Final = "events.jsonl"
_CHUNK: Final = 1 << 20
_TRIES: Final = 50
_TRY_SECONDS: Final = 0.01


class Follower:
    """Reads a log from its beginning, as far as it is written; `news` again gives what came since."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream: BinaryIO | None = None
        self._half = b""
        self._offset = 0

    def news(self) -> Iterator[Happened | None]:
        """The events that have come; `None` says that the log was replaced or cut: what follows is another log."""
        if self._stream is not None and self._other():
            self.close()
            yield None
        if self._stream is None:
            try:
                self._stream = self._path.open("rb", buffering=0)
            except FileNotFoundError:
                return
        while data := self._stream.read(_CHUNK):
            self._offset += len(data)
            *lines, self._half = (self._half + data).split(b"\n")
            for line in lines:
                event = event_in(line)
                if event is not None:
                    yield event

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream, self._half, self._offset = None, b"", 0

    def _other(self) -> bool:
        assert self._stream is not None
        mine = os.fstat(self._stream.fileno())
        if mine.st_size < self._offset:
            return True
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False  # taken away, and nothing in its place yet: what we have open is all there is
        return (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino)


def event_in(line: bytes) -> Happened | None:
    """The event of a line; `None` for half a line that was ended, and for one that another version wrote."""
    try:
        return from_plain(json.loads(line), Happened)
    except Exception:  # cattrs' errors have no common class
        return None


def hold(log: FileIO) -> None:
    """Marks an open log as written to by a running sweep, until it is closed or the process ends."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:  # somebody is just looking, in `held`
            time.sleep(_TRY_SECONDS)
        except OSError:  # a file system without locks: the sweep runs as well without the mark
            return
        else:
            return


def held(path: Path) -> bool | None:
    """Whether a running sweep writes to the log; `None` where nobody can tell."""
    try:
        with path.open("rb") as log:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False
