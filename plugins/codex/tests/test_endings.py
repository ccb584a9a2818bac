"""How runs of the real Codex end, and whose doing that is; what they took, also when they were cut."""

from __future__ import annotations

import pytest
from harness2_codex import install
from harness2_codex.config_file import config_text
from harness2_codex.substrate import Codex

from harness2_core.api import (
    Action,
    Assistant,
    Channel,
    Failure,
    HarnessTree,
    Observation,
    Outcome,
    Reasoning,
    ending_of,
    render,
)
from harness2_core.testing import ToolCall, Turn, failing, rate_limited, tool_call
from harness2_core.testing.offline import OfflineRoom, Ran

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="gpt-5.5")
TREE = HarnessTree({"AGENTS.md": "Work.\n"})
DONE = Turn("Done.")


def shell(command: str) -> Turn:
    return Turn(calls=(tool_call("exec_command", cmd=command),))


def cause(ran: Ran) -> str | None:
    lost = Codex().loss(ran.trajectory, ran.exit)
    return lost.cause if lost else None


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (failing(401), "access"),
        (failing(404), "access"),
        (rate_limited(1), "rate-limit"),
        (failing(500), "provider"),
        (failing(503), "provider"),
        (Turn("insufficient credits", status=402), "budget"),
        (Turn("never said", cut_after=4), "network"),
    ],
    ids=["refused key", "unknown model", "rate limit", "internal error", "unavailable", "no credit", "cut stream"],
)
def test_a_provider_that_fails_is_a_loss_and_soon_told(room: OfflineRoom, turn: Turn, expected: str) -> None:
    ran = room.run(Codex(), shell("echo begun"), *[turn] * 12, tree=TREE, channel=CHANNEL)
    assert cause(ran) == expected
    assert ran.exit.code == 1
    assert len(ran.asked) <= 10
    assert Action("shell", "echo begun") in ran.trajectory.events


def test_an_endpoint_that_nobody_serves_is_a_loss(room: OfflineRoom) -> None:
    ran = room.run(Codex(), tree=TREE, channel=CHANNEL, base="/nowhere/v1")
    assert cause(ran) == "access"


def test_an_endpoint_that_does_not_answer_is_a_loss_within_seconds(room: OfflineRoom) -> None:
    ran = room.run(Codex(), tree=TREE, channel=CHANNEL, url="http://127.0.0.1:9/v1", limit_seconds=60)
    assert (cause(ran), ran.exit.timed_out) == ("network", False)


def test_a_time_limit_that_the_provider_used_up_is_a_loss(room: OfflineRoom) -> None:
    slow = rate_limited(300)
    ran = room.run(Codex(), shell("echo begun"), *[slow] * 3, tree=TREE, channel=CHANNEL, limit_seconds=8)
    assert ran.exit.timed_out
    assert cause(ran) == "rate-limit"


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (Turn("context_length_exceeded: the maximum context length is 8 tokens", status=400), Outcome.CRASHED),
        (Turn("Too much", stop="max_output_tokens"), Outcome.CRASHED),
        (Turn("I cannot", stop="content_filter"), Outcome.REFUSED),
    ],
    ids=["context full", "answer too long", "refused"],
)
def test_what_the_model_does_itself_is_no_loss(room: OfflineRoom, turn: Turn, expected: Outcome) -> None:
    ran = room.run(Codex(), *[turn] * 9, tree=TREE, channel=CHANNEL)
    assert cause(ran) is None
    assert ending_of(Codex(), ran.trajectory, ran.exit, delivered=False).outcome is expected


def test_at_its_last_step_the_agent_ends_after_what_it_asked_for(room: OfflineRoom) -> None:
    turns = [shell(f"sleep 0.3; echo {number} >> steps.txt") for number in range(6)]
    ran = room.run(Codex(), *turns, tree=TREE, channel=Channel(model="gpt-5.5", steps=3))
    ending = ending_of(Codex(), ran.trajectory, ran.exit, delivered=True)
    assert ending.outcome is Outcome.OUT_OF_STEPS
    assert "3 steps" in ending.note
    assert (ran.workspace / "steps.txt").read_text() == "0\n1\n2\n"
    assert len(ran.asked) in (3, 4)
    assert ran.trajectory.usage.tokens["input"] in (30, 40)


def test_an_agent_that_needs_no_more_steps_than_it_has_ends_as_ever(room: OfflineRoom) -> None:
    turns = [shell("echo 1"), shell("printf '\\\\ two\\n'"), DONE]
    ran = room.run(Codex(), *turns, tree=TREE, channel=Channel(model="gpt-5.5", steps=3), prompt="Three steps.")
    assert ending_of(Codex(), ran.trajectory, ran.exit, delivered=False).outcome is Outcome.FINISHED
    assert "Three steps." in ran.first
    assert ran.trajectory.events == (
        Action("shell", "echo 1"),
        Observation("1"),
        Action("shell", "printf '\\\\ two\\n'"),
        Observation("\\ two"),
        Assistant("Done."),
    )


def test_with_steps_a_loss_is_still_a_loss(room: OfflineRoom) -> None:
    ran = room.run(Codex(), *[failing(503)] * 12, tree=TREE, channel=Channel(model="gpt-5.5", steps=3))
    assert (ran.exit.code, cause(ran)) == (1, "provider")


def test_an_agent_that_ends_well_without_a_word_has_failed(room: OfflineRoom) -> None:
    ran = room.run(Codex(), Turn(""), tree=TREE, channel=CHANNEL)
    assert ran.exit.code == 0
    assert ending_of(Codex(), ran.trajectory, ran.exit, delivered=False).outcome is Outcome.CRASHED


def test_a_codex_that_does_not_know_a_setting_does_not_start_and_that_is_a_loss(
    room: OfflineRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "config_text", lambda *given: "no_such_setting = 1\n" + config_text(*given))
    ran = room.run(Codex(), tree=TREE, channel=CHANNEL)
    assert (cause(ran), ran.asked) == ("worker", ())
    assert "unknown configuration field" in render(ran.trajectory)


def test_a_time_limit_is_told_with_what_was_done_and_paid_until_then(room: OfflineRoom) -> None:
    ran = room.run(Codex(), shell("echo begun"), shell("sleep 300"), tree=TREE, channel=CHANNEL, limit_seconds=6)
    assert ran.exit.timed_out
    assert Failure("the agent was stopped at its time limit") in ran.trajectory.events
    assert Observation("begun") in ran.trajectory.events
    assert ran.trajectory.usage.tokens == {"input": 20, "output": 10}
    assert ran.trajectory.usage.source == "price list"
    assert cause(ran) is None


def test_thinking_is_told_and_what_was_cached_is_counted_apart(room: OfflineRoom) -> None:
    thought = Turn("Done.", reasoning="MARK-thought", cache_read_tokens=100, cache_write_tokens=30)
    ran = room.run(Codex(), thought, tree=TREE, channel=CHANNEL)
    assert ran.trajectory.events == (Reasoning("MARK-thought"), Assistant("Done."))
    assert ran.trajectory.usage.tokens == {"input": 10, "cache_read": 100, "cache_write": 30, "output": 5}


def test_tokens_are_counted_once_and_priced(room: OfflineRoom) -> None:
    ran = room.run(
        Codex(), shell("true"), Turn("Done.", input_tokens=1000, output_tokens=200), tree=TREE, channel=CHANNEL
    )
    usage = ran.trajectory.usage
    assert usage.tokens == {"input": 1010, "output": 205}
    assert usage.source == "price list"
    assert 0 < float(usage.usd or 0) < 1


def test_a_model_without_a_price_has_none(room: OfflineRoom) -> None:
    ran = room.run(Codex(), DONE, tree=TREE, channel=Channel(model="nobody/knows-this"))
    assert (ran.trajectory.usage.usd, ran.trajectory.usage.source) == (None, "unknown")
    assert ran.trajectory.usage.tokens == {"input": 10, "output": 5}


def test_tools_that_never_ran_are_told(room: OfflineRoom) -> None:
    wrong = Turn(calls=(ToolCall("exec_command", "{half"), tool_call("no_such_tool", a=1)))
    ran = room.run(Codex(), wrong, DONE, tree=TREE, channel=CHANNEL)
    told = [event.text for event in ran.trajectory.events if isinstance(event, Observation) and event.error]
    assert any("failed to parse function arguments" in text for text in told)
    assert any("no_such_tool" in text for text in told)
    assert ran.trajectory.events[-1] == Assistant("Done.")


def test_a_command_that_fails_shows_its_words_and_its_code(room: OfflineRoom) -> None:
    ran = room.run(Codex(), shell("echo why >&2; exit 3"), DONE, tree=TREE, channel=CHANNEL)
    assert Observation("why\nexit code 3", error=True) in ran.trajectory.events


def test_a_command_that_outlives_the_agent_is_told_to_be_open(room: OfflineRoom) -> None:
    long = Turn(calls=(tool_call("exec_command", cmd="sleep 30", yield_time_ms=300),))
    ran = room.run(Codex(), long, DONE, tree=TREE, channel=CHANNEL)
    assert "of 1 action the stream does not tell the end" in ran.trajectory.notes
