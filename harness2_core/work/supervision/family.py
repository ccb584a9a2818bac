"""Finding and ending what descends from the supervised program.

On Linux the supervisor is a child subreaper: a process whose parent dies, whatever its session or group, becomes the
supervisor's child. So there are no descendants exactly when there are no children, which `waitpid` tells without a
race. Elsewhere the program's process group is all that can be ended.
"""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH123, SIM105

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

from .proc import Process, children_of_ours, descendants, read_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PATIENCE_SECONDS = 30.0
"""After so long, what SIGKILL did not end is stuck in the kernel or belongs to another user."""

_FIRST = -20
_CHASES = 1000


def prctl(option: int, value: int) -> None:
    """Linux only. Raises `OSError`."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


class Family:
    """The program with process id `main`, and its descendants. Only the supervisor may use it: it reaps children."""

    def __init__(self, main: int) -> None:
        self.main = main
        self.status: int | None = None
        """Wait status of `main` once it has ended."""
        self._childless = False
        self._killed = 0
        """How many besides `main` died by SIGKILL."""

    def reap(self) -> None:
        """Buries the dead; never waits."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                return
            if pid == 0:
                return
            if pid == self.main:
                self.status = status
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                self._killed += 1

    @property
    def gone(self) -> bool:
        """Whether nobody is left. As of the last `reap`."""
        return self._childless

    def alive(self) -> list[Process]:
        return descendants(os.getpid())

    def ask_to_end(self) -> None:
        """SIGTERM to all.

        Except to a process that stands between us and a nested pid namespace: that is a sandbox, and ending it would
        take away from the program inside the time to end well. It ends when the program does.
        """
        alive = {process.pid: process for process in self.alive()}
        own = read_process(os.getpid())
        inside = [process for process in alive.values() if own is not None and process.levels > own.levels]
        keepers: set[int] = set()
        for process in inside:
            parent = alive.get(process.parent)
            while parent is not None and parent.levels == (own.levels if own else 0):
                keepers.add(parent.pid)
                parent = alive.get(parent.parent)
        _send(signal.SIGTERM, (pid for pid in alive if pid not in keepers))

    def kill(self) -> tuple[int, list[int]]:
        """Ends everybody. Returns how many besides `main` had to be killed, and who withstood it.

        Everybody is stopped before anybody is killed: a fork bomb whose members are killed one by one replaces them
        as fast. Then children are killed as they come: whoever forks and exits faster than /proc can be read becomes
        our child each time, and the kernel lists those in no time.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        self.reap()
        self._killed = 0
        pause = 0.001
        while not self.gone and time.monotonic() < deadline:
            _send(signal.SIGKILL, self._stop_everybody(deadline))
            self._kill_children()
            if not self.gone:
                time.sleep(pause)
                pause = min(0.05, 2 * pause)
                self.reap()
        return self._killed, [] if self.gone else sorted(process.pid for process in self.alive())

    def _stop_everybody(self, deadline: float) -> set[int]:
        """In rounds, until a round finds nobody new."""
        stopped: set[int] = set()
        while fresh := {process.pid for process in self.alive()} - stopped:
            _send(signal.SIGSTOP, fresh)
            stopped |= fresh
            if time.monotonic() > deadline:
                break
        return stopped

    def _kill_children(self) -> None:
        for _ in range(_CHASES):
            self.reap()
            children = children_of_ours()
            if self.gone or not children:
                return
            _send(signal.SIGKILL, children)


class Group(Family):
    """Where there is neither a subreaper nor /proc: the process group that `main` leads."""

    @property
    def gone(self) -> bool:
        if self.status is None:
            return False
        try:
            os.killpg(self.main, 0)
        except (ProcessLookupError, PermissionError):  # macOS answers the latter for a group of zombies
            return True
        return False

    def alive(self) -> list[Process]:
        return []

    def ask_to_end(self) -> None:
        _send_group(signal.SIGTERM, self.main)

    def kill(self) -> tuple[int, list[int]]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        self.reap()
        left = 0
        while not self.gone and time.monotonic() < deadline:
            left = int(self.status is not None)
            _send_group(signal.SIGKILL, self.main)
            time.sleep(0.01)
            self.reap()
        return left, [] if self.gone else [self.main]


def family_of(main: int) -> Family:
    return Family(main) if sys.platform == "linux" else Group(main)


def adopt_orphans() -> None:
    if sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def come_first() -> None:
    """Where allowed: among hundreds of busy descendants, whoever is to end them would hardly get a turn.

    Linux shares a processor among sessions before it shares it within one (autogroup), so both levels are set.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _FIRST)
        with open("/proc/self/autogroup", "w") as file:
            file.write(str(_FIRST))
    except OSError:
        pass


def die_with(parent: int) -> None:
    """In a fresh child: SIGKILL when the supervisor goes. Raises `ProcessLookupError` when it has gone already."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError("the supervisor is gone")


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def _send_group(number: signal.Signals, leader: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        pass
