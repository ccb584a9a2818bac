"""Work for `EngineContract`: functions of a module, as engines want them, and an assignment to give them."""

from __future__ import annotations

import os
import signal
import time

from harness2_core.api import Assignment, Channel, Ended, FrozenMap, RolloutRequest, request_digest
from harness2_core.api.engine import is_cancelled


def assignment(*names: str) -> Assignment:
    """Rollouts of invented tasks, one for each name."""
    return Assignment(
        requests=tuple(
            RolloutRequest(
                bench="toy",
                task=name,
                task_digest="0" * 64,
                substrate="toy",
                tree="1" * 64,
                channel=Channel("none"),
                settings=FrozenMap(),
                draw=f"toy-toy-agg1/{name}/base1",
            )
            for name in names
        ),
        providers=FrozenMap(),
        settings=FrozenMap(),
        store="memory",
        runs="runs",
    )


def finish(work: Assignment) -> tuple[Ended, ...]:
    """Ends well at once."""
    return tuple(Ended(request_digest(request), True) for request in work.requests)


def finish_soon(work: Assignment) -> tuple[Ended, ...]:
    """Ends well after a moment."""
    time.sleep(0.3)
    return finish(work)


def fail(work: Assignment) -> tuple[Ended, ...]:
    """Is a worker with a bug."""
    raise ZeroDivisionError("a worker with a bug")


class Unpicklable(Exception):
    """As exceptions with an open file or a lock inside are."""

    def __reduce__(self) -> str:
        raise TypeError("this cannot be pickled")


def fail_unpicklably(work: Assignment) -> tuple[Ended, ...]:
    """Is a worker with a bug, and what it raises cannot leave its process."""
    raise Unpicklable


def die(work: Assignment) -> tuple[Ended, ...]:
    """Is a worker whose process is killed: for engines whose workers are other processes only."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ()


def until_cancelled(work: Assignment) -> tuple[Ended, ...]:
    """Runs until all its requests are cancelled in this process; says so, or that nobody did within half a minute."""
    digests = {request_digest(request) for request in work.requests}
    end = time.monotonic() + 30
    while not all(is_cancelled(work, digest) for digest in digests):
        if time.monotonic() > end:
            return finish(work)
        time.sleep(0.005)
    return tuple(Ended(digest, False, "worker", 0, "cancelled") for digest in digests)
