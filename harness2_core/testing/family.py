"""Processes that something leaves behind, orphans of orphans included. Linux only; elsewhere none is found.

This process becomes the reaper of its descendants for as long as it looks, so that none escapes by losing its parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from types import TracebackType
from typing import Final, Self, final

from harness2_core.work.supervision.proc import Process, children_of_ours, descendants

_SET_REAPER: Final = 36
_GET_REAPER: Final = 37
_PATIENCE_SECONDS: Final = 10.0
"""Something that is ending may take its time; what lives longer is left behind."""


@final
class Family:
    """A context. Afterwards `left` are the descendants that it found alive, as `pid command line`; they are killed."""

    def __init__(self) -> None:
        self.left: list[str] = []

    def __enter__(self) -> Self:
        self._before = {process.pid for process in _descendants()}
        self._reaper = _reaping(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while (pids := self._mine()) and time.monotonic() < end:
            time.sleep(0.02)
        self.left += [f"{pid} {_command(pid)}" for pid in pids]
        while pids := self._mine():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self._bury()
        _reaping(self._reaper)

    def _mine(self) -> list[int]:
        return [process.pid for process in _descendants() if process.pid not in self._before]

    def _bury(self) -> None:
        """Orphans that ended are nobody's else."""
        for pid in children_of_ours():
            if pid not in self._before:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def _descendants() -> list[Process]:
    return descendants(os.getpid()) if sys.platform == "linux" else []


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _reaping(wanted: bool) -> bool:
    """Sets whether orphans below become children of this process; returns how it was."""
    if sys.platform != "linux":
        return False
    libc, was = ctypes.CDLL(None, use_errno=True), ctypes.c_int(0)
    libc.prctl(_GET_REAPER, ctypes.byref(was), 0, 0, 0)
    libc.prctl(_SET_REAPER, int(wanted), 0, 0, 0)
    return bool(was.value)
