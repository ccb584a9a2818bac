"""What /proc tells of processes. Linux only; elsewhere nothing is found."""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os


class Process:
    """What /proc/<pid>/status tells of one process."""

    __slots__ = ("levels", "parent", "pid", "resident_kib", "state", "tasks")

    def __init__(self, pid: int, status: bytes) -> None:
        fields = dict(line.split(b":", 1) for line in status.splitlines() if b":" in line)
        self.pid = pid
        self.parent = int(fields[b"PPid"])
        self.state = fields[b"State"].split()[0].decode()
        self.tasks = int(fields.get(b"Threads", b"1"))
        self.levels = len(fields.get(b"NSpid", b"0").split())
        """Nesting of its pid namespace: larger inside a sandbox than outside."""
        parts = (fields.get(name, b"0").split()[0] for name in (b"RssAnon", b"RssShmem"))
        self.resident_kib = sum(int(part) for part in parts)

    @property
    def ended(self) -> bool:
        return self.state in "ZX"


def read_process(pid: int) -> Process | None:
    """None when it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return Process(pid, file.read())
    except (OSError, KeyError, ValueError):
        return None


def descendants(root: int) -> list[Process]:
    """Of `root`, zombies left out. A snapshot: what is born meanwhile may be missing, so callers look again."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        process = read_process(int(name)) if name.isdigit() else None
        if process is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    todo = [root]
    while todo:
        below = children.pop(todo.pop(), ())
        found += below
        todo += [process.pid for process in below]
    return [process for process in found if not process.ended]


def children_of_ours() -> list[int]:
    """Of this process; nothing where the kernel does not tell."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []
