"""One order from beginning to end: begin, watch, end everybody, report."""

# Importing pathlib and contextlib would cost more than this whole package:
# ruff: noqa: PTH208, SIM105

from __future__ import annotations

import os
import resource
import sys
import time

from .begin import NotBegun, begin
from .disk import Disk
from .family import Family, adopt_orphans, come_first, family_of
from .limits import Limits, limits_for
from .order import Order, Report, read_order
from .streams import Capture, roomy_pipe
from .watch import OVER_DISK, SETTLE_SECONDS, Alarm, Watch

_OVER = {"memory": "memory", "processes": "processes", OVER_DISK: "disk"}
"""Why a program was ended -> the limit that it was over."""


def serve(control: int, report: int) -> int:
    """Takes the order from `control`, answers on `report`. Returns the supervisor's own exit status."""
    alarm = Alarm()
    if os.getsid(0) != os.getpid():
        os.setsid()
    for name in os.listdir("/dev/fd"):
        _keep_from_program(int(name))
    adopt_orphans()
    order = read_order(control)
    if order is None:
        return 0  # the parent died before it could ask for anything
    limits = limits_for(order.memory_mb, order.processes)
    try:
        answer = _supervise(order, limits, control, alarm)
    finally:
        limits.close()
    answer.limits = limits.kind
    try:
        os.write(report, answer.encode())
    except BrokenPipeError:
        pass  # the parent is gone: nobody wants to know
    return 0


def _supervise(order: Order, limits: Limits, control: int, alarm: Alarm) -> Report:
    captures: list[Capture] = []
    ends: list[int] = []
    for path in (order.stdout, order.stderr):
        try:
            capture, end = _capture(path, order.stream_bytes)
        except OSError as error:
            return Report(disk=f"{path}: {error.strerror}")
        captures.append(capture)
        ends.append(end)
    begun = time.monotonic()
    try:
        disk = Disk(order.written, order.disk_mb)
        family = family_of(begin(order, limits, disk, ends[0], ends[1]))
    except NotBegun as problem:
        return Report(failed=problem.step, detail=problem.detail)
    report = Report()
    try:
        come_first()  # only now, so that the program does not inherit it
        for descriptor in (*ends, order.stdin):
            os.close(descriptor)
        watch = Watch(family, captures, limits, disk, control, alarm)
        watch.until_ended(begun + order.limit_ms / 1000)
        report.elapsed_ms = round((time.monotonic() - begun) * 1000)
        _give_time(watch, family, order.grace_ms / 1000)
        met = limits.met()
        limits.forbid_births()
    finally:
        report.left_behind, report.survivors = family.kill()  # whatever went wrong above
    for capture in captures:
        capture.drain()
        capture.finish()
    _tell(report, family.status, watch.reason, captures)
    if not report.exceeded and (report.code != 0 or watch.reason):
        report.exceeded = met
    return report


def _capture(path: str, cap: int) -> tuple[Capture, int]:
    source, end = roomy_pipe()
    return Capture(source, path, cap), end


def _give_time(watch: Watch, family: Family, grace: float) -> None:
    """To end by themselves: a moment after the program's own end, `grace` when it is told to end."""
    if not watch.reason:
        watch.while_ending(SETTLE_SECONDS)
    elif watch.reason not in _OVER:  # one that grows without bound gets no time to grow further
        family.ask_to_end()
        watch.while_ending(grace)


def _tell(report: Report, status: int | None, reason: str, captures: list[Capture]) -> None:
    if status is not None:
        report.code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        report.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    report.timed_out = reason == "timed-out"
    report.cancelled = reason in ("cancelled", "orphaned")
    report.exceeded = _OVER.get(reason, "")
    report.truncated = any(capture.truncated for capture in captures)
    report.disk = next((f"{capture.path}: {capture.error}" for capture in captures if capture.error), "")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report.user_ms = round(used.ru_utime * 1000)
    report.system_ms = round(used.ru_stime * 1000)
    report.max_rss_kib = used.ru_maxrss >> 10 if sys.platform == "darwin" else used.ru_maxrss


def _keep_from_program(descriptor: int) -> None:
    try:
        os.set_inheritable(descriptor, False)
    except OSError:
        pass  # the descriptor that listed the others, closed by now
