"""Bounded capture of a stream: its head on disk as it comes, its tail in memory until the end.

The program is never blocked by a full pipe, whatever it prints; what lies between head and tail is counted and left
out, and a mark says so. Nothing is decoded: any bytes may come.
"""

# Importing contextlib would cost more than this whole package:
# ruff: noqa: SIM105

from __future__ import annotations

import fcntl
import os

CHUNK = 1 << 16
ROOM = 1 << 20
"""Bytes that a pipe holds for a reader that comes late: the most that is granted to all."""


def mark(left_out: int) -> bytes:
    return b"\n[harness2: %d bytes left out here]\n" % left_out


def roomy_pipe() -> tuple[int, int]:
    """Its reading and its writing end. It holds much, where the system allows that.

    Some agents write without waiting, and end soon after their last words: what the pipe had no room for while this
    process waited for its turn is lost with them.
    """
    source, end = os.pipe()
    try:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, ROOM)
    except (AttributeError, OSError):  # not Linux, or this user has too many such pipes: the usual size will do
        pass
    return source, end


class Capture:
    """Moves what comes out of the descriptor `source` to the file `path`: at most `cap` bytes and a mark."""

    def __init__(self, source: int, path: str, cap: int) -> None:
        os.set_blocking(source, False)
        self.source = source
        self.path = path
        self.error = ""
        """Why the file is not complete: the disk is full, for one."""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._head_left = cap - cap // 4
        self._tail_cap = cap // 4
        self._tail = bytearray()
        self._left_out = 0

    @property
    def truncated(self) -> bool:
        return self._left_out > 0

    def take(self) -> bool:
        """Takes what is there, at most one chunk; False once the stream has ended."""
        try:
            data = os.read(self.source, CHUNK)
        except BlockingIOError:
            return True
        self._keep(data)
        return bool(data)

    def drain(self) -> None:
        """Takes what the pipe still holds. Every writer is dead, so that is little and this cannot hang."""
        while True:
            try:
                data = os.read(self.source, CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            self._keep(data)

    def finish(self) -> None:
        """Writes mark and tail and closes both ends."""
        if len(self._tail) > self._tail_cap:
            self._trim()
        if self._left_out:
            self._write(mark(self._left_out))
        self._write(bytes(self._tail))
        os.close(self._file)
        os.close(self.source)

    def _keep(self, data: bytes) -> None:
        if self._head_left:
            self._write(data[: self._head_left])
            data, self._head_left = data[self._head_left :], max(0, self._head_left - len(data))
        self._tail += data
        if len(self._tail) > 2 * self._tail_cap + CHUNK:  # seldom, so that moving bytes costs little
            self._trim()

    def _trim(self) -> None:
        extra = len(self._tail) - self._tail_cap
        self._left_out += extra
        del self._tail[:extra]

    def _write(self, data: bytes) -> None:
        try:
            while data and not self.error:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.error = error.strerror or str(error)  # and go on reading: a blocked program could not be ended kindly
