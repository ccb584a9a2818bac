"""How runs of the real OpenCode end, and whose doing that is; what they took, also when they were cut."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness2_opencode.reading import UNENDED
from harness2_opencode.substrate import Opencode

from harness2_core.api import Action, Assistant, Channel, Failure, HarnessTree, Observation, Outcome, Reasoning, render
from harness2_core.testing import Turn, failing, rate_limited, tool_call
from harness2_core.testing.offline import OfflineRoom, Ran

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="gpt-5-mini")
TREE = HarnessTree({"systemprompt.md": "Work.\n"})
DONE = Turn("Done.")


def shell(command: str) -> Turn:
    return Turn(calls=(tool_call("bash", command=command, description="Run it"),))


def given(command: str) -> str:
    return json.dumps({"command": command, "description": "Run it"})


def cause(ran: Ran) -> str | None:
    lost = Opencode().loss(ran.trajectory, ran.exit)
    return lost.cause if lost else None


def outcome(ran: Ran) -> Outcome | None:
    told = Opencode().outcome(ran.trajectory, ran.exit)
    return told.outcome if told else None


def test_a_key_that_is_refused_is_a_loss_at_once(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), shell("echo begun"), *[Turn("bad key", status=401)] * 3, tree=TREE, channel=CHANNEL)
    assert (cause(ran), ran.exit.code, len(ran.asked)) == ("access", 1, 2)
    assert Observation("begun\n") in ran.trajectory.events


FAILING = {
    "provider": failing(500),
    "rate-limit": rate_limited(2),
    "budget": Turn("Insufficient credits", status=402),
    "network": Turn("never said", cut_after=3),
}


def test_a_provider_that_fails_is_a_loss_and_is_told_in_bounded_time(room: OfflineRoom) -> None:
    """All at once: each run waits for more than a minute, and does nothing else."""

    def run(expected: str) -> Ran:
        turns = [FAILING[expected]] * 12
        return room.run(Opencode(), *turns, tree=TREE, channel=CHANNEL, name=expected[:3])

    with ThreadPoolExecutor(len(FAILING)) as pool:
        runs = dict(zip(FAILING, pool.map(run, FAILING), strict=True))
    for expected, ran in runs.items():
        assert (cause(ran), ran.exit.code, len(ran.asked)) == (expected, 1, 6)
        assert "the provider was asked again, times: 5" in ran.trajectory.notes


def test_a_provider_that_asks_for_a_long_wait_gets_it_between_attempts(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), shell("echo begun"), rate_limited(1800), DONE, tree=TREE, channel=CHANNEL)
    lost = Opencode().loss(ran.trajectory, ran.exit)
    assert lost is not None
    assert lost.cause == "rate-limit"
    assert 1700 < lost.wait_seconds <= 1800
    assert len(ran.asked) == 2
    assert not ran.exit.timed_out


def test_a_provider_that_comes_back_is_no_loss(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), failing(503), DONE, tree=TREE, channel=CHANNEL)
    assert (cause(ran), outcome(ran), ran.exit.code) == (None, None, 0)
    assert ran.trajectory.events == (Assistant("Done."),)
    assert ran.trajectory.notes == ("the provider was asked again, times: 1",)


def test_a_request_that_is_too_long_is_the_agents_own_doing(room: OfflineRoom) -> None:
    too_long = Turn("This model's maximum context length is 8 tokens", status=400)
    ran = room.run(Opencode(), *[too_long] * 9, tree=TREE, channel=CHANNEL)
    assert (cause(ran), outcome(ran), ran.exit.code) == (None, Outcome.CRASHED, 1)


def test_a_model_that_goes_on_at_its_last_step_is_stopped(room: OfflineRoom) -> None:
    channel = Channel(CHANNEL.model, steps=3)
    ran = room.run(Opencode(), *[shell("echo on")] * 9, tree=TREE, channel=channel)
    assert len(ran.asked) == 3
    assert "MAXIMUM STEPS" in ran.asked[2].text
    assert (cause(ran), outcome(ran)) == (None, Outcome.OUT_OF_STEPS)
    assert ran.trajectory.events[-1] == Failure("the agent was stopped at its limit of steps, 3")
    assert [event.name for event in ran.trajectory.events if isinstance(event, Action)] == ["bash"] * 3
    assert ran.trajectory.usage.tokens == {"input": 30, "output": 15}


def test_a_model_that_ends_at_its_last_step_has_finished(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), shell("true"), DONE, tree=TREE, channel=Channel(CHANNEL.model, steps=2))
    assert (outcome(ran), ran.exit.code, ran.trajectory.events[-1]) == (None, 0, Assistant("Done."))


def test_steps_of_sub_agents_count_and_repeats_do_not(room: OfflineRoom) -> None:
    task = Turn(calls=(tool_call("task", description="Go", prompt="Go on.", subagent_type="general"),))
    turns = (task, failing(503), shell("echo in"), *[shell("echo on")] * 9)
    ran = room.run(Opencode(), *turns, tree=TREE, channel=Channel(CHANNEL.model, steps=4))
    assert len(ran.asked) == 5
    assert outcome(ran) is Outcome.OUT_OF_STEPS


def test_what_was_done_and_paid_until_it_was_killed_is_told(room: OfflineRoom) -> None:
    kill = "kill -9 $OPENCODE_PID; sleep 300"
    ran = room.run(Opencode(), shell("echo begun"), shell(kill), tree=TREE, channel=CHANNEL)
    assert ran.exit.code != 0
    assert Observation("begun\n") in ran.trajectory.events
    assert ran.trajectory.events[-3:-1] == (Action("bash", given(kill)), Observation(UNENDED))
    assert ran.trajectory.usage.tokens == {"input": 10, "output": 5}
    assert ran.trajectory.usage.source == "price list"
    assert cause(ran) is None


def test_tokens_of_each_kind_are_counted_once_and_thoughts_are_told(room: OfflineRoom) -> None:
    done = Turn("Done.", input_tokens=1000, cache_read_tokens=400, output_tokens=200, reasoning="I ponder.")
    ran = room.run(Opencode(), shell("true"), done, tree=TREE, channel=CHANNEL)
    assert ran.trajectory.usage.tokens == {"input": 1010, "cache_read": 400, "output": 205}
    assert ran.trajectory.usage.source == "price list"
    assert ran.trajectory.events[-2:] == (Reasoning("I ponder."), Assistant("Done."))


def test_a_model_without_a_price_has_none(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), DONE, tree=TREE, channel=Channel(model="nobody/knows-this"))
    assert (ran.trajectory.usage.usd, ran.trajectory.usage.source) == (None, "unknown")
    assert ran.trajectory.usage.tokens == {"input": 10, "output": 5}


def test_a_call_that_cannot_be_made_out_is_told(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), Turn(calls=(tool_call("no_such_tool", a=1),)), DONE, tree=TREE, channel=CHANNEL)
    told = [event.text for event in ran.trajectory.events if isinstance(event, Observation) and event.error]
    assert any("no_such_tool" in text for text in told)


def test_an_address_that_is_none_is_a_loss(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), tree=TREE, channel=CHANNEL, base="/nowhere/v1")
    assert cause(ran) == "access", render(ran.trajectory)
