"""Killed at any instant, the same command finishes the sweep, pays nothing finished again, and leaves equal records."""

from __future__ import annotations

import random
import shutil
import time
from typing import Any

import pytest

from harness2_core.testing.comparing import paid_more_than_once
from harness2_core.testing.crashing import crash_at, forget, paid_again, steps
from harness2_core.testing.mishaps import EVERYTHING, met, tries

KILLED = -9
KILLS = 50

TOLD_APART = """\
BY = "base"


def solve(inputs, output, say):
    output.mkdir(parents=True, exist_ok=True)
    (output / "sum.txt").write_text(f"7, says {BY}\\n", encoding="utf-8")
    say("summed")
"""
"""What it delivers tells which harness it is, so that the selector has to choose."""


TELLING = (
    "given-back config",
    "put reservation",
    "put attempt .*/started",
    "put attempt .*/ended",
    *(f"put {kind}" for kind in ("rollout", "bases", "view", "session", "adoption", "mode")),
)
"""Steps after which something is half done, by what they are."""


@pytest.mark.process
def test_killed_at_any_instant_a_sweep_ends_as_an_undisturbed_one(program: Any, bench: Any) -> None:
    quiet = bench.root / "quiet"
    assert program.warm(runs=quiet) == 0, program.output
    instants = [*TELLING, *range(12, len(steps(program.orders)) - 12, 24)]

    for number, instant in enumerate(instants):
        runs = bench.root / f"killed-{number}"
        forget(program.orders)
        crash_at(program.orders, instant)
        assert program.warm(runs=runs) == KILLED, instant
        crash_at(program.orders, None)
        assert program.warm(runs=runs) == 0, (instant, program.output)
        assert program.records(runs) == program.records(quiet), instant
        assert program.attempts(runs) <= program.attempts(quiet) + 2, instant  # what was in flight: two stages at most
        assert paid_again(program.orders) == paid_more_than_once(program.store(runs)) == (), instant


@pytest.mark.process
def test_kills_at_random_moments_leave_no_trace(program: Any, bench: Any) -> None:
    """Those of resumes too, and of resumes of those: half of them at any time, half after any step of the store.

    On the way two modes meet rate limits, lost and refused sessions, and trees and votes that have to be corrected.
    """
    bench.write("base/scripts/solve.py", TOLD_APART)
    bench.task("sums/second")
    bench.plugin("proposer", "mishaps", "from harness2_core.testing.mishaps import Mishaps as Made")
    bench.set(k=2, modes="parallel,sequential", **{"roles.improver.provider": "mishaps"})
    quiet = bench.root / "quiet"
    began = time.monotonic()
    assert program.warm(runs=quiet) == 0, program.output
    whole, expected = time.monotonic() - began, program.records(quiet)
    assert set(met(program.store(quiet))) == EVERYTHING
    forget(program.orders)
    chance, kills, ends = random.Random(9), 0, 0
    while kills < KILLS or not ends:  # the last sweep is seen to its end, too
        by_step = kills < KILLS and chance.random() < 0.5
        crash_at(program.orders, chance.randrange(1, 150) if by_step else None)
        limit = 0.0 if by_step or kills >= KILLS else chance.uniform(0.01, whole / 2)
        code = program.warm(kill_after=limit)
        assert code in (KILLED, 0), program.output
        kills += code == KILLED
        if code == 0:
            assert program.records() == expected
            assert paid_again(program.orders) == paid_more_than_once(bench.store()) == ()
            assert set(met(program.store())) == EVERYTHING
            forget(program.orders)
            shutil.rmtree(bench.runs)
            shutil.rmtree(tries(bench.runs))
            ends += 1


@pytest.mark.process
def test_a_killed_resume_is_resumed(program: Any, bench: Any) -> None:
    quiet = bench.root / "quiet"
    assert program.warm(runs=quiet) == 0, program.output
    forget(program.orders)
    kills = 0
    for number in range(24, 200, 12):  # a resume takes fewer steps to the same point
        crash_at(program.orders, number)
        kills += program.warm() == KILLED
    crash_at(program.orders, None)
    assert kills >= 4

    assert program.warm() == 0, program.output
    assert program.records() == program.records(quiet)
    assert paid_again(program.orders) == ()


@pytest.mark.process
def test_what_a_killed_run_had_begun_is_counted_once_and_does_not_block_the_limit(program: Any, bench: Any) -> None:
    quiet, limits = bench.root / "quiet", {"max_rollouts": 4, "max_sessions": 4}
    assert program.warm(runs=quiet, **limits) == 0, program.output
    begun = [number for number, step in enumerate(steps(program.orders), 1) if step[:2] == ("put", "attempt")]
    crash_at(program.orders, begun[-2])  # the last session has begun, and has no record
    assert program.warm(**limits) == KILLED
    crash_at(program.orders, None)

    assert program.warm(**limits) == 0, program.output
    assert program.records() == program.records(quiet)
