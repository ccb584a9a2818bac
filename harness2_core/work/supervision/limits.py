"""Which mechanism bounds the memory and the processes (threads count) of a program, and what it saw.

In this order: a control group, where one can be made; the kernel then enforces both exactly. Else counting, by what
/proc says of all descendants, at most twenty times a second: the program is ended when it is over. Counting comes
late by nature, so a user that is not root gets rlimits with it, as a backstop between two counts. They cannot stand
alone: RLIMIT_NPROC counts everything the user runs, siblings and desktop included, and has no effect on root, and
RLIMIT_DATA knows one process at a time.
"""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import os
import sys
import time

from .cgroups import Cgroup, homes
from .family import Family
from .proc import descendants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNT_SECONDS = 0.05
_COUNT_SHARE = 20
"""Counting takes at most one part in so many of a processor's time."""
_SIBLING_TASKS = 2048
"""What else the same user may start while the program runs, before RLIMIT_NPROC stands in its way."""


class Limits:
    """No limits, and the face of those that are."""

    kind = "none"

    def enter(self) -> None:
        """In the fresh child, before it becomes the program."""

    def seconds_to_count(self) -> float | None:
        """When `over` wants to be asked again."""
        return None

    def over(self, family: Family) -> str:  # noqa: ARG002
        """`memory` or `processes` when the program must be ended for it."""
        return ""

    def forbid_births(self) -> None:
        """Where possible, so that the killing need not race."""

    def met(self) -> str:
        """Which limit the kernel enforced, if any; asked after the end of a program that did not end well."""
        return ""

    def close(self) -> None:
        """After the last descendant is gone."""


def limits_for(memory_mb: int, processes: int) -> Limits:
    """The strictest mechanism this machine has for what is asked; 0 asks for nothing."""
    if not memory_mb and not processes:
        return Limits()
    if sys.platform != "linux":
        return Limits()
    try:
        return InCgroup(memory_mb, processes)
    except OSError:
        return Counting(memory_mb, processes) if os.geteuid() == 0 else WithRlimits(memory_mb, processes)


class InCgroup(Limits):
    """Raises `OSError` where no group can be made."""

    kind = "cgroup"

    def __init__(self, memory_mb: int, processes: int) -> None:
        wanted = frozenset(name for name, value in (("memory", memory_mb), ("pids", processes)) if value)
        with open("/proc/self/cgroup") as membership, open("/proc/self/mountinfo") as mounts:
            places = homes(wanted, membership.read(), mounts.read())
        if frozenset().union(*(home.controllers for home in places)) != wanted:
            raise OSError("a control group hierarchy is missing")
        self._group = Cgroup(places, memory_mb, processes)

    def enter(self) -> None:
        self._group.enter()

    def forbid_births(self) -> None:
        self._group.forbid_births()

    def met(self) -> str:
        hits = self._group.hits()
        return next((name for name, count in hits.items() if count), "")

    def close(self) -> None:
        self._group.remove()


class Counting(Limits):
    """The supervisor counts, and ends the program that is over."""

    kind = "counting"

    def __init__(self, memory_mb: int, processes: int) -> None:
        self._memory_kib = memory_mb << 10
        self._processes = processes
        self._next = 0.0

    def seconds_to_count(self) -> float | None:
        return max(0.0, self._next - time.monotonic())

    def over(self, family: Family) -> str:
        begun = time.monotonic()
        if begun < self._next:
            return ""
        alive = family.alive()
        verdict = ""
        if self._processes and sum(process.tasks for process in alive) > self._processes:
            verdict = "processes"
        # Resident memory counts pages that forked processes share once for each: a cheap upper bound, then the truth.
        elif self._memory_kib and sum(process.resident_kib for process in alive) > self._memory_kib:
            verdict = "memory" if proportional_kib(process.pid for process in alive) > self._memory_kib else ""
        spent = time.monotonic() - begun
        self._next = time.monotonic() + max(_COUNT_SECONDS, _COUNT_SHARE * spent)
        return verdict


class WithRlimits(Counting):
    """Counting, and rlimits that hold until the next count."""

    kind = "rlimits"

    def __init__(self, memory_mb: int, processes: int) -> None:
        super().__init__(memory_mb, processes)
        self._tasks_now = _tasks_of(os.getuid()) if processes else 0

    def enter(self) -> None:
        import resource  # in the child only

        if self._processes:
            _lower(resource.RLIMIT_NPROC, self._tasks_now + self._processes + _SIBLING_TASKS)
        if self._memory_kib:  # generous: thread stacks and untouched heaps count too, though they take no memory
            _lower(resource.RLIMIT_DATA, 2 * (self._memory_kib << 10) + (1 << 30))


def proportional_kib(pids: Iterable[int]) -> int:
    """Memory of these processes with each shared page counted once; file pages are left out."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                lines = [line.split() for line in file if line.startswith((b"Pss_Anon:", b"Pss_Shmem:"))]
        except OSError:
            continue
        total += sum(int(words[1]) for words in lines)
    return total


def _tasks_of(user: int) -> int:
    total = 0
    for process in descendants(0):
        try:
            total += process.tasks if os.stat(f"/proc/{process.pid}").st_uid == user else 0
        except OSError:
            continue
    return total


def _lower(which: int, value: int) -> None:
    import resource

    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
