"""What a program may write: its files together, counted now and then, and each of them by an rlimit in between.

Counted is what files take of the disk, those that were unlinked and are still open too, each once however many names it
has. A program that is over is ended.
"""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH116, PTH208

from __future__ import annotations

import os
import resource
import stat
import time

from .family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNT_SECONDS = 0.5
_COUNT_SHARE = 50
"""Counting takes at most one part in so many of a processor's time."""
_BLOCK = 512
_PATH_CHARS = 1000
"""Of a path that one call is given: 4,095 bytes are the most that Linux takes."""


class Disk:
    """At most `mb` MiB in the directories `places`; 0 sets no limit."""

    def __init__(self, places: list[str], mb: int) -> None:
        self._places = places
        self._most = mb << 20
        self._next = time.monotonic() + _COUNT_SECONDS

    def enter(self) -> None:
        """In the fresh child, before it becomes the program: no file larger than all may be together."""
        if self._most:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            most = self._most if hard == resource.RLIM_INFINITY else min(self._most, hard)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    def seconds_to_count(self) -> float | None:
        """When `over` wants to be asked again."""
        return max(0.0, self._next - time.monotonic()) if self._most else None

    def over(self, family: Family) -> bool:
        """Whether the program must be ended for it."""
        begun = time.monotonic()
        if not self._most or begun < self._next:
            return False
        is_over = self.used(process.pid for process in family.alive()) > self._most
        spent = time.monotonic() - begun
        self._next = time.monotonic() + max(_COUNT_SECONDS, _COUNT_SHARE * spent)
        return is_over

    def used(self, pids: Iterable[int]) -> int:
        """Bytes on disk, in the directories and in what these processes hold open there without a name."""
        found: dict[tuple[int, int], int] = {}
        devices: set[int] = set()
        waiting = list(self._places)
        while waiting:
            directory = waiting.pop()
            try:
                opened = _opened(directory)
            except OSError:
                continue  # the program removed it meanwhile, or may not read it itself
            try:
                devices.add(os.fstat(opened).st_dev)
                with os.scandir(opened) as entries:
                    for entry in entries:
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except OSError:
                            continue
                        if stat.S_ISDIR(status.st_mode):
                            waiting.append(f"{directory}/{entry.name}")
                        found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK
            finally:
                os.close(opened)
        for pid in pids:
            for status in _open_files(pid):
                if not status.st_nlink and status.st_dev in devices:
                    found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK
        return sum(found.values())


def _opened(directory: str) -> int:
    """A descriptor, however deep the directory lies: else what lies deeper than a path is long would not count."""
    above: int | None = None
    while True:
        here, below = directory, ""
        if len(directory) > _PATH_CHARS:
            end = directory.rindex("/", 0, _PATH_CHARS)
            here, below = directory[:end], directory[end + 1 :]
        try:
            opened = os.open(here, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        finally:
            if above is not None:
                os.close(above)
        if not below:
            return opened
        above, directory = opened, below


def _open_files(pid: int) -> list[os.stat_result]:
    found = []
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []
    for name in names:
        try:
            status = os.stat(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            found.append(status)
    return found
