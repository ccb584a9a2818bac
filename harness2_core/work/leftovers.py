"""Processes that outlived their supervisor: found by the private home in their environment, and ended.

A supervisor ends all that descends from its program, and ends with it when the worker goes. One that is killed itself
(SIGKILL, or a machine out of memory) can do neither: without a sandbox, a descendant that has left its session lives on
and writes into a workspace that nobody waits for. It still bears the variables of its request, such as a HOME below
`<runs>/work/<request>.aside/`. Whoever has put those aside as well is not found. Linux only.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Final

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest

PATIENCE_SECONDS: Final = 10.0
"""After so long, what SIGKILL did not end is stuck in the kernel or belongs to another user."""


def left_over(runs: Path) -> dict[int, Digest]:
    """Process id -> the request that it was started for, of all processes whose home lies at a site of `runs`."""
    if sys.platform != "linux":
        return {}
    site = _site(runs)
    others = (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())  # noqa: PTH208
    return {pid: request for pid in others if (request := _request(pid, site))}


def end_left_over(runs: Path, request: Digest) -> list[int]:
    """Ends those of a request, and what they give birth to meanwhile; their process ids.

    Nobody may be working on the request: it is claimed here, and its own supervisor is gone.
    """
    ended: list[int] = []
    site = _site(runs)
    until = time.monotonic() + PATIENCE_SECONDS
    while found := [pid for pid, its in left_over(runs).items() if its == request]:
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all are stopped first: nobody replaces the dead
            for pid in found:
                _send(pid, number, request, site)
        ended += [pid for pid in found if pid not in ended]
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    return ended


def end_unclaimed(runs: Path, store: Store) -> list[int]:
    """Ends those on whose request nobody works, here or in another process: a claim dies with its owner."""
    ended: list[int] = []
    for request in sorted(set(left_over(runs).values())):
        with store.claim(request) as free:
            if free:
                ended += end_left_over(runs, request)
    return ended


def _site(runs: Path) -> re.Pattern[bytes]:
    """Finds the request in an environment: any variable will do, since an agent's may replace some of them."""
    return re.compile(rb"=" + re.escape(os.fsencode(runs.resolve() / "work")) + rb"/([0-9a-f]{64})\.aside/")


def _request(pid: int, site: re.Pattern[bytes]) -> Digest:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - for every process of the machine
            match = site.search(file.read())
    except OSError:  # it has ended, or is somebody else's
        return ""
    return match.group(1).decode() if match else ""


def _send(pid: int, number: signal.Signals, request: Digest, site: re.Pattern[bytes]) -> None:
    """Through a descriptor, so that a process that took the number of one that has ended is never meant."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if _request(pid, site) == request:
            signal.pidfd_send_signal(process, number)
    except OSError:  # it has ended, or belongs to another user
        pass
    finally:
        os.close(process)
