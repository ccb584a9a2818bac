"""The pipe to a supervisor: its end means that we are gone, so its write end must be ours alone.

Programs that we start never get it, since descriptors are not inheritable, nor do sibling supervisors. A fork of this
process that goes on without exec, as workers of a process pool do, closes its copies.
"""

from __future__ import annotations

import os
from typing import Final

from .supervision.order import CANCEL


class Control:
    """The write end. An object, for a number may be another pipe's as soon as it is closed."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        _open.add(self)

    def write(self, data: bytes | memoryview) -> int:
        """How much was taken: nothing when the pipe is full or its reader is gone."""
        try:
            return os.write(self.descriptor, data)
        except (BlockingIOError, BrokenPipeError):
            return 0

    def hang_up(self) -> None:
        """Says so first: a thread that forks this very moment may give its child a copy, and no end would come."""
        self.write(CANCEL)
        _open.discard(self)
        os.close(self.descriptor)


_open: Final[set[Control]] = set()


def _forget() -> None:
    for control in _open:
        os.close(control.descriptor)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
