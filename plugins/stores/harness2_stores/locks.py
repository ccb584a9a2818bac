"""A lock on a file that the system gives back when its owner dies, without waiting: what claims are made of.

A claim is taken and given back for each step of a sweep, so its price counts: this is `flock` and little else, a sixth
of what a general lock takes, and the two exclude each other. Forked children close what their parent holds, or it would
outlive the parent. Windows has no `flock`; there the general lock serves.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Final

from filelock import BaseFileLock, Timeout, WindowsFileLock

if sys.platform != "win32":
    import fcntl

    _held: Final[set[int]] = set()
    """Descriptors of the locks in force here."""
    _opening: Final = threading.Lock()
    """A fork waits for it, so that no child gets a descriptor that it does not know of."""

    def take(path: str) -> int | None:
        """Locks the file, made if need be; `None` when somebody else has it. Of this process too: not reentrant."""
        while True:
            with _opening:
                lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                _held.add(lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(lock), os.stat(path)):
                        return lock
            except BlockingIOError:
                _close(lock)
                return None
            except BaseException:
                _close(lock)
                raise
            _close(lock)  # who had it has just removed the file: what we hold is nobody's any more

    def give_back(lock: int, path: str) -> None:
        """Removes the file, then unlocks it: whoever waits at its door finds that it is gone."""
        with suppress(OSError):  # a file that stays is swept later; the lock is what counts
            os.unlink(path)
        fcntl.flock(lock, fcntl.LOCK_UN)
        _close(lock)

    def _close(lock: int) -> None:
        _held.discard(lock)
        os.close(lock)

    def _leave_to_parent() -> None:
        _opening.release()
        while _held:
            os.close(_held.pop())

    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_leave_to_parent)

else:

    def take(path: str) -> BaseFileLock | None:
        lock = WindowsFileLock(path, thread_local=False, fallback_to_soft=False, preserve_lock_file=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
        return lock

    def give_back(lock: BaseFileLock, path: str) -> None:
        lock.release()
