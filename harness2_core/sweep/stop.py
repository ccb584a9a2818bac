"""A wish to stop, set from a signal handler or another thread, read by the scheduler."""

from __future__ import annotations


class Stop:
    """`level` 0: go on; 1: start nothing more and let paid work end; 2: end paid work too."""

    def __init__(self) -> None:
        self.level = 0
        self.signal = 0
        """The signal that asked first, or 0."""

    def ask(self, signal: int = 0) -> None:
        """Asks once more; a plain attribute change, so it is safe in a signal handler."""
        self.signal = self.signal or signal
        self.level = min(self.level + 1, 2)
