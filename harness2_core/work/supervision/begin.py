"""From an order to a running program: fork, prepare the child, exec; or the exact reason why not."""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH123

from __future__ import annotations

import os
import resource
import signal

from .disk import Disk
from .family import die_with
from .limits import Limits
from .order import Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class NotBegun(Exception):
    """`step` is `argv`, `cwd` or `start`."""

    def __init__(self, step: str, detail: str) -> None:
        super().__init__(step, detail)
        self.step = step
        self.detail = detail


def begin(order: Order, limits: Limits, disk: Disk, stdout: int, stderr: int) -> int:
    """Starts the program and returns its process id; `stdout` and `stderr` are the write ends it gets.

    The child tells over a pipe that closes at exec which step failed, so that a missing program is told apart from a
    program that exits with 127. Raises `NotBegun`.
    """
    told, tell = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        raise NotBegun("start", error.strerror or str(error)) from error
    if pid == 0:
        _become(order, limits, disk, (order.stdin, stdout, stderr), tell, parent)
    os.close(tell)
    with open(told, "rb") as pipe:
        problem = pipe.read().decode(errors="replace")
    if problem:
        os.waitpid(pid, 0)
        step, _, detail = problem.partition(" ")
        raise NotBegun(step, detail)
    return pid


def _become(
    order: Order, limits: Limits, disk: Disk, streams: tuple[int, int, int], tell: int, parent: int
) -> NoReturn:
    step = "start"
    try:
        os.setsid()  # a group of its own: a program that signals its group must not reach the supervisor
        die_with(parent)
        limits.enter()
        disk.enter()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump is no deliverable
        for number in signal.valid_signals():
            if signal.getsignal(number) is signal.SIG_IGN:  # Python ignores SIGPIPE, and that would be inherited
                signal.signal(number, signal.SIG_DFL)
        for target, stream in enumerate(streams):
            os.dup2(stream, target)  # every other descriptor closes at exec
        step = "cwd"
        os.chdir(order.cwd)
        step = "argv"
        os.execvpe(order.argv[0], order.argv, order.env)
    except BaseException as error:
        detail = (error.strerror if isinstance(error, OSError) else None) or f"{type(error).__name__}: {error}"
        os.write(tell, f"{step} {detail}".encode(errors="replace"))
    finally:
        os._exit(127)
