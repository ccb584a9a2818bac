"""Agents that go wrong in every way that they do, run by the worker: what is kept, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness2_core.api import Channel, Endpoint, HarnessTree, Outcome, Place, Rollout
from harness2_core.testing import TOY_FAILURES, Behaviour, ToyAgent, WorkRoom
from harness2_core.testing.child import Child, say
from harness2_core.testing.family import Family

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="programs are not supervised on Windows"),
]

LIMIT_SECONDS = 2
HANGS_SECONDS = 100
"""More than ten times what an agent that hangs may take: its limit, the time to end well, and a start."""


@pytest.fixture
def failing(room: WorkRoom) -> Iterator[WorkRoom]:
    """A room whose agent fails as `PROMPT.md` says; afterwards no process and no directory of it may be there."""
    room.agent = ToyAgent({**TOY_FAILURES, "costly": Behaviour(usd="0.25", seconds=0.2)})
    with Family() as family:
        begun = time.monotonic()
        yield room
        assert time.monotonic() - begun < HANGS_SECONDS
    assert family.left == []
    assert list((room.runs / "work").iterdir()) == []


def rolled(room: WorkRoom, how: str) -> Rollout:
    return room.rolled({"PROMPT.md": f"{how}\n"}, Channel(limit_seconds=LIMIT_SECONDS if how == "hang" else 60))


def delivered(record: Rollout) -> list[str]:
    return list(record.deliverables.entries)


def test_a_crash_is_told_by_its_signal_and_what_was_printed_is_kept(failing: WorkRoom) -> None:
    record = rolled(failing, "crash")
    assert (record.outcome, delivered(record)) == (Outcome.CRASHED, [])
    assert "signal 11" in failing.text(record.transcript)
    assert (failing.text(record.stream), failing.text(record.stderr)) == ("begun\n", "segmentation fault\n")


def test_an_agent_that_hangs_and_will_not_end_is_ended_at_its_limit(failing: WorkRoom) -> None:
    record = rolled(failing, "hang")
    assert (record.outcome, delivered(record)) == (Outcome.TIMED_OUT, [])
    assert "timed out" in failing.text(record.transcript)
    assert failing.text(record.stream) == "begun\n"


def test_half_a_line_is_kept_as_it_is(failing: WorkRoom) -> None:
    record = rolled(failing, "half a line")
    assert record.outcome is Outcome.CRASHED
    assert failing.text(record.stream) == 'begun\n{"type": "message", "te'
    assert '"te' in failing.text(record.transcript)


def test_bytes_that_are_no_text_are_readable_and_cost_no_result(failing: WorkRoom) -> None:
    record = rolled(failing, "0xff")
    assert (record.outcome, delivered(record)) == (Outcome.FINISHED, ["answer.txt"])
    assert failing.text(record.transcript).count("\ufffd") >= 1_000


def test_a_grandchild_in_a_session_of_its_own_does_not_survive(failing: WorkRoom) -> None:
    record = rolled(failing, "grandchild")
    assert (record.outcome, delivered(record)) == (Outcome.FINISHED, ["answer.txt"])
    (line,) = [line for line in failing.text(record.stream).splitlines() if line.startswith("left ")]
    with pytest.raises(ProcessLookupError):
        os.kill(int(line.split()[1]), 0)


def test_exit_0_with_nothing_is_a_finished_rollout_that_delivered_nothing(failing: WorkRoom) -> None:
    record = rolled(failing, "nothing")
    assert (record.outcome, record.delivered, delivered(record)) == (Outcome.FINISHED, False, [])
    assert (failing.text(record.stream), failing.text(record.stderr)) == ("", "")


def test_what_an_agent_says_it_cost_and_how_long_it_took_are_in_the_record(failing: WorkRoom) -> None:
    record = rolled(failing, "costly")
    assert (record.usage.usd, record.usage.source) == ("0.25", "stream")
    assert record.usage.elapsed_ms >= 200


def test_200_mb_of_output_cost_the_worker_little_memory(tmp_path: Path) -> None:
    with Family() as family, Child(roll_a_flood, tmp_path) as worker:
        told = json.loads(worker.line())
        worker.rest()
    assert family.left == []
    assert list((tmp_path / "runs" / "work").iterdir()) == []
    assert (told["outcome"], told["delivered"]) == ("finished", ["answer.txt"])
    assert "longer than what is kept" in told["note"]
    assert told["stream"] < 64 << 20
    assert told["transcript"] < 1 << 20
    assert told["grown_mib"] < 200, "the worker's peak must not follow what an agent prints"


def roll_a_flood(root: Path) -> None:
    """In a process of its own, whose peak is nobody else's."""
    import resource  # not on Windows

    def peak_mib() -> int:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used >> (20 if sys.platform == "darwin" else 10)

    room = WorkRoom(root)
    room.agent = ToyAgent(TOY_FAILURES)
    rolled(room, "nothing")
    before = peak_mib()
    record = rolled(room, "flood")
    told = {
        "outcome": record.outcome.value,
        "delivered": delivered(record),
        "note": record.note,
        "stream": record.stream.size,
        "transcript": record.transcript.size,
        "grown_mib": peak_mib() - before,
    }
    say(json.dumps(told))


def test_there_is_a_way_to_fail_for_each_that_is_tried_here() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert not [how for how in TOY_FAILURES if f'"{how}"' not in source]


@pytest.mark.parametrize("how", TOY_FAILURES)
def test_a_way_to_fail_is_asked_for_by_a_line_of_the_harness(how: str) -> None:
    agent, place = ToyAgent(TOY_FAILURES), Place("/w", "/h", "/w/output")
    usual = agent.install(HarnessTree({"PROMPT.md": "Do it.\n"}), "", Channel(), place, Endpoint())
    asked = agent.install(HarnessTree({"PROMPT.md": f"Do it.\n{how}\n"}), "", Channel(), place, Endpoint())
    assert asked.stdin != usual.stdin
