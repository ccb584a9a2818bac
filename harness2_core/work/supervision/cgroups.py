"""Control groups for one supervised program: made, entered, read, removed. Versions 1 and 2.

A group is made below the one that we are in, or beside it when ours has no limit of its own: never out of a limit
that somebody put on us. Existing groups are left as they are. The supervisor holds a file lock on the groups it
made; the lock dies with it, and a later supervisor ends what is in an unlocked group and removes it.
"""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH102, PTH106, PTH112, PTH116, PTH120, PTH123, PTH208, SIM105

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time

PREFIX = "harness2-"
_NO_LIMIT = "max"
_ATTEMPTS = 5


class Home:
    """A directory in which groups for `controllers` can be made."""

    def __init__(self, path: str, version: int, controllers: frozenset[str]) -> None:
        self.path = path
        self.version = version
        self.controllers = controllers


def homes(wanted: frozenset[str], membership: str, mounts: str) -> list[Home]:
    """Where groups for the `wanted` controllers (`memory`, `pids`) can be made: one for all in version 2.

    `membership` and `mounts` are the texts of /proc/self/cgroup and /proc/self/mountinfo. What cannot be had is
    missing from the answer; whether the directory is writable shows when it is used.
    """
    found: list[Home] = []
    own = {}
    for line in membership.splitlines():
        _, names, path = line.split(":", 2)
        own[frozenset(names.split(",")) if names else frozenset({""})] = path
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, point = (_unescape(part) for part in before.split()[3:5])
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup":
            controllers = wanted.intersection(options.split(","))
            mine = next((path for names, path in own.items() if controllers and controllers <= names), None)
            if mine is not None and (place := _below(point, root, mine)):
                found.append(Home(place, 1, controllers))
        elif kind == "cgroup2" and frozenset({""}) in own:
            place = _below(point, root, own[frozenset({""})])
            place = _delegating(place, wanted, top=place == point) if place else ""
            if place:
                found.append(Home(place, 2, wanted))
    return found


class Cgroup:
    """A fresh group in each of `places`. Raises `OSError` when one cannot be made or limited."""

    def __init__(self, places: list[Home], memory_mb: int, processes: int) -> None:
        self._made: list[tuple[str, int, Home]] = []
        try:
            for home in places:
                sweep(home.path)
                path, lock = _make(home.path)
                self._made.append((path, lock, home))
                if memory_mb and "memory" in home.controllers:
                    _limit_memory(path, home.version, memory_mb << 20)
                if processes and "pids" in home.controllers:
                    _write(path, "pids.max", str(processes))
        except OSError:
            self.remove()
            raise

    def enter(self) -> None:
        for path, _, _ in self._made:
            _write(path, "cgroup.procs", "0")

    def forbid_births(self) -> None:
        for path, _, home in self._made:
            if "pids" in home.controllers:
                _write(path, "pids.max", "0")

    def hits(self) -> dict[str, int]:
        """How often each limit was met: processes killed for memory, births refused."""
        found = {"memory": 0, "processes": 0}
        for path, _, home in self._made:
            if "memory" in home.controllers:
                events = "memory.events" if home.version == 2 else "memory.oom_control"
                found["memory"] += _count(path, events, "oom_kill")
            if "pids" in home.controllers:
                found["processes"] += _count(path, "pids.events", "max")
        return found

    def remove(self) -> None:
        for path, lock, _ in self._made:
            _remove(path)
            os.close(lock)
        self._made.clear()


def sweep(home: str) -> None:
    """Ends and removes what supervisors that were killed left in `home`."""
    for name in os.listdir(home):
        path = f"{home}/{name}"
        if not name.startswith(PREFIX):
            continue
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        except OSError:
            pass  # its supervisor lives, or is removing it
        finally:
            os.close(lock)


def _delegating(own: str, wanted: frozenset[str], *, top: bool) -> str:
    """The nearest version 2 group whose children have the `wanted` controllers, or nothing.

    Our own qualifies only at the root; else our parent, when our own group has no limit that its child would escape.
    """
    if wanted <= set(_read(own, "cgroup.subtree_control").split()):
        return own
    limits = [_read(own, name).strip() for name in ("memory.max", "memory.high", "memory.swap.max", "pids.max")]
    parent = os.path.dirname(own)
    free = all(limit in (_NO_LIMIT, "") for limit in limits)
    return parent if not top and free and wanted <= set(_read(parent, "cgroup.subtree_control").split()) else ""


def _below(point: str, root: str, path: str) -> str:
    """The directory of group `path` in a hierarchy whose part `root` is mounted at `point`, if it can be seen."""
    if path != root and not path.startswith(root.rstrip("/") + "/"):
        return ""
    place = (point + "/" + path[len(root) :].lstrip("/")).rstrip("/")
    return place if os.path.isdir(place) else ""


def _make(home: str) -> tuple[str, int]:
    for _ in range(_ATTEMPTS):
        path = f"{home}/{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        os.mkdir(path)
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.stat(path)
        except OSError:
            continue  # a sweep took it between birth and lock
        return path, lock
    raise OSError(errno.EBUSY, f"no control group could be made in {home}")


def _limit_memory(path: str, version: int, size: int) -> None:
    _write(path, "memory.max" if version == 2 else "memory.limit_in_bytes", str(size))
    try:  # without swap accounting there is nothing to forbid
        _write(path, *(("memory.swap.max", "0") if version == 2 else ("memory.memsw.limit_in_bytes", str(size))))
    except OSError:
        pass


def _remove(path: str) -> None:
    """With the groups that the program made inside, and whoever is left in them."""
    for _ in range(100):
        for directory, _, _ in os.walk(path, topdown=False):
            for pid in _read(directory, "cgroup.procs").split():
                if int(pid) > 1:  # 0 stands for a process outside our pid namespace
                    _kill(int(pid))
            try:
                os.rmdir(directory)
            except OSError:
                pass  # the dead leave a group a little later than they are reaped
        if not os.path.isdir(path):
            return
        time.sleep(0.01)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _count(path: str, name: str, key: str) -> int:
    return sum(int(line.split()[1]) for line in _read(path, name).splitlines() if line.split()[:1] == [key])


def _read(path: str, name: str) -> str:
    """Nothing when it cannot be read."""
    try:
        with open(f"{path}/{name}", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, name: str, text: str) -> None:
    file = os.open(f"{path}/{name}", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _unescape(text: str) -> str:
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
