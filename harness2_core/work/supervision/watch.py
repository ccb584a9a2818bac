"""The supervisor's loop: one `poll` over streams, commands and signals until the program has ended or must end."""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: CODES

from __future__ import annotations

import os
import select
import signal
import time

from .disk import Disk
from .family import Family
from .limits import Limits
from .order import CANCEL
from .streams import Capture

OVER_DISK = "over the disk"
SETTLE_SECONDS = 0.1
"""What a program leaves behind may end by itself for so long, a `tee` at the end of a pipeline for one."""

_LONGEST_WAIT_SECONDS = 3600.0


class Alarm:
    """Wakes the loop for SIGCHLD, and notes signals that ask the supervisor itself to end. Once per process."""

    def __init__(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a thread of the parent may have blocked them
        self.asked_to_end = False
        self.descriptor, wake = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self.asked_to_end = True

    def clear(self) -> None:
        try:
            while os.read(self.descriptor, 512):
                pass
        except BlockingIOError:
            pass


class Watch:
    """`reason` says why the program must end.

    `cancelled`, `timed-out`, `orphaned`, `disk` (ours: a stream could not be kept), `memory`, `processes`, `OVER_DISK`.
    """

    def __init__(
        self, family: Family, captures: list[Capture], limits: Limits, disk: Disk, control: int, alarm: Alarm
    ) -> None:
        self.reason = ""
        self._family = family
        self._limits = limits
        self._disk = disk
        self._control = control
        self._command = ""
        """What came last over the control pipe: `cancelled`, or `orphaned` once it has closed."""
        self._alarm = alarm
        self._captures = {capture.source: capture for capture in captures}
        self._poll = select.poll()
        for descriptor in (control, alarm.descriptor, *self._captures):
            self._poll.register(descriptor, select.POLLIN)

    def until_ended(self, deadline: float) -> None:
        """Returns when the program has ended, or with a `reason` why it must; `timed-out` at `deadline`."""
        while True:
            self._family.reap()
            if self._family.status is not None:
                return
            self.reason = self._verdict(deadline)
            if self.reason:
                return
            self._turn(deadline, self._limits.seconds_to_count(), self._disk.seconds_to_count())

    def while_ending(self, seconds: float) -> None:
        """Returns when nobody is left, or after `seconds`."""
        deadline = time.monotonic() + seconds
        self._family.reap()
        while not self._family.gone and time.monotonic() < deadline:
            self._turn(deadline)
            self._family.reap()

    def _verdict(self, deadline: float) -> str:
        if self._command:
            return self._command
        if self._alarm.asked_to_end:
            return "orphaned"
        if time.monotonic() >= deadline:
            return "timed-out"
        if any(capture.error for capture in self._captures.values()):
            return "disk"
        return self._limits.over(self._family) or (OVER_DISK if self._disk.over(self._family) else "")

    def _turn(self, deadline: float, *counts: float | None) -> None:
        """Waits for something to happen, no longer than to `deadline` or for one of `counts` seconds, and takes it."""
        waits = (count for count in counts if count is not None)
        seconds = min(_LONGEST_WAIT_SECONDS, deadline - time.monotonic(), *waits)
        for descriptor, _ in self._poll.poll(max(0, int(seconds * 1000) + 1)):
            if descriptor == self._control:
                self._listen()
            elif descriptor == self._alarm.descriptor:
                self._alarm.clear()
            elif not self._captures[descriptor].take():
                self._poll.unregister(descriptor)  # the program closed it; it may well live on

    def _listen(self) -> None:
        heard = os.read(self._control, 64)
        if not heard:
            self._poll.unregister(self._control)
        self._command = "cancelled" if heard.startswith(CANCEL) else "orphaned"
