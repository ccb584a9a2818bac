"""How real runs end, whose doing that was and what it took; and a rollout through the whole worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve, frozen
from harness2_claude.settings import ClaudeSettings
from harness2_claude.spent import KNOWN
from harness2_claude.substrate import Claude

from harness2_core.api import Channel, Digest, Endpoint, Failure, HarnessTree, Install, Outcome, Place, Usage, ending_of
from harness2_core.testing import ModelServer, Turn, failing, rate_limited, tool_call
from harness2_core.testing.offline import OfflineRoom, Ran
from harness2_core.testing.raw_endpoint import RawEndpoint, saying, whole
from harness2_core.testing.workroom import WorkRoom

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
TREE = HarnessTree({"CLAUDE.md": "Work.\n"})
DONE = Turn("Done.")
LOOK = Turn("Looking.", calls=(tool_call("Bash", command="ls", description="d"),))


class Sandboxed(Claude):
    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        return super().install(tree, prompt, channel, evolve(place, sandboxed=True, network="model"), endpoint)


@frozen
class Lends:
    """Model access that gives one endpoint to all."""

    endpoint: Endpoint

    @contextmanager
    def open(self, channel: Channel, key: Digest, role: str) -> Iterator[Endpoint]:
        yield self.endpoint

    def usage(self, key: Digest) -> Usage | None:
        return None


AGENT = Sandboxed(ClaudeSettings(retries=1))


def run(
    room: OfflineRoom, *turns: Turn, channel: Channel = CHANNEL, limit_seconds: int = 120, name: str = "run"
) -> Ran:
    return room.run(AGENT, *turns, tree=TREE, channel=channel, base="", limit_seconds=limit_seconds, name=name)


def outcome(ran: Ran) -> Outcome:
    return ending_of(AGENT, ran.trajectory, ran.exit, delivered=False).outcome


@pytest.mark.parametrize(
    ("turn", "cause", "asked"),
    [
        (Turn("invalid x-api-key", status=401), "access", 2),
        (rate_limited(1), "rate-limit", 2),
        (failing(529), "provider", 2),
        (failing(500), "provider", 2),
        (Turn("Your credit balance is too low to access the API", status=400), "budget", 1),
        (Turn("words that never come to their end", cut_after=3), "network", 2),
    ],
    ids=["401", "429", "529", "500", "no money", "cut"],
)
def test_what_the_provider_did_is_a_loss_after_few_tries(room: OfflineRoom, turn: Turn, cause: str, asked: int) -> None:
    ran = run(room, LOOK, *[turn] * 9)
    lost = AGENT.loss(ran.trajectory, ran.exit)
    assert lost is not None
    assert lost.cause == cause, lost
    assert len(ran.asked) == 1 + asked
    assert ran.trajectory.usage.tokens["input"] == 10


def test_a_request_that_succeeds_at_the_second_try_is_no_loss(room: OfflineRoom) -> None:
    ran = run(room, failing(529), DONE)
    assert outcome(ran) is Outcome.FINISHED
    assert "the provider was asked again, times: 1" in ran.trajectory.notes


def test_a_provider_that_cannot_be_reached_is_a_loss(room: OfflineRoom) -> None:
    class Astray(Sandboxed):
        def install(
            self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint
        ) -> Install:
            return super().install(tree, prompt, channel, place, evolve(endpoint, url="http://127.0.0.1:9"))

    agent = Astray(ClaudeSettings(retries=1))
    ran = room.run(agent, tree=TREE, channel=CHANNEL, base="")
    lost = agent.loss(ran.trajectory, ran.exit)
    assert lost is not None
    assert lost.cause == "network"


def test_a_refusal_is_the_model_s_doing(room: OfflineRoom) -> None:
    assert outcome(run(room, Turn("I would rather", stop="refusal"), DONE)) is Outcome.REFUSED


def test_the_limit_of_steps_is_kept_and_no_crash(room: OfflineRoom) -> None:
    ran = run(room, *[LOOK] * 5, channel=Channel(model="vendor/model", steps=2))
    assert len(ran.asked) == 2
    assert outcome(ran) is Outcome.OUT_OF_STEPS


def test_a_run_that_its_time_limit_ended_keeps_what_it_did(room: OfflineRoom) -> None:
    sleep = Turn("Waiting.", calls=(tool_call("Bash", command="sleep 100", description="d"),))
    ran = run(room, sleep, limit_seconds=20)
    assert outcome(ran) is Outcome.TIMED_OUT
    assert ran.trajectory.usage.tokens["input"] == 10
    assert "Waiting." in str(ran.trajectory.events)
    assert ran.trajectory.events[-1] == Failure("the agent was stopped at its time limit")


def test_tokens_of_each_kind_are_counted_once(room: OfflineRoom) -> None:
    ran = run(room, evolve(LOOK, cache_write_tokens=30), Turn("Done.", cache_read_tokens=30))
    assert ran.trajectory.usage.tokens == {"input": 20, "output": 10, "cache_read": 30, "cache_write": 30}


@pytest.mark.parametrize(
    ("model", "usd"),
    [("claude-sonnet-4-5", 18), ("claude-opus-4-1-20250805", 90), ("claude-haiku-5", 30), ("vendor/model", 30)],
)
def test_the_price_of_a_model_that_claude_code_does_not_know_is_one_guess_for_all(
    room: OfflineRoom, model: str, usd: int
) -> None:
    """Of a million tokens each way. What is taken for known is told by its own price."""
    ran = run(room, Turn("Done.", input_tokens=1_000_000, output_tokens=1_000_000), channel=Channel(model=model))
    assert json.loads(ran.stdout.splitlines()[-1])["total_cost_usd"] == usd
    assert (ran.trajectory.usage.source == "stream") is bool(KNOWN.search(model)) is (usd != 30)


def test_a_rollout_through_the_worker_sees_nothing_of_the_user(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/hook-ran"}]}
    poison = {
        ".claude/CLAUDE.md": "MARK-user-memory",
        ".claude/settings.json": json.dumps({"hooks": {"PreToolUse": [hook]}, "model": "opus"}),
        ".claude/skills/poison/SKILL.md": "---\nname: poison\ndescription: MARK-user-skill\n---\nx\n",
        ".claude/agents/poison.md": "---\nname: poison\ndescription: MARK-user-agent\n---\nx\n",
        ".claude.json": json.dumps(
            {"mcpServers": {"poison": {"command": "touch", "args": [f"{tmp_path}/server-ran"]}}}
        ),
    }
    for path, text in {**poison, "../CLAUDE.md": "MARK-above", "../.claude/rules/a.md": "MARK-above"}.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-poison: MARK-user-header")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "canary-of-the-user-5b1f")
    room = WorkRoom(tmp_path / "room")
    room.agent = Claude(ClaudeSettings(binary=str(program)))
    with ModelServer(LOOK, DONE, key="canary-key-of-one-run") as server:
        room.access = Lends(Endpoint(server.url, "canary-key-of-one-run"))
        record = room.rolled(TREE.files, Channel(model="claude-haiku-4-5-20251001"))
        asked = server.asked
    assert record.outcome is Outcome.FINISHED
    assert (record.usage.source, record.usage.tokens["output"]) == ("stream", 10)
    assert record.versions["agent.toy"] == f"claude {Claude().tested_version}"
    assert len(asked) == 2
    assert "MARK" not in str([(item.headers, item.body) for item in asked])
    assert not (tmp_path / "hook-ran").exists()
    assert not (tmp_path / "server-ran").exists()
    assert b"canary-key-of-one-run" not in room.everything()


def test_no_other_host_is_asked_for_anything(tmp_path: Path, program: Path) -> None:
    """Telemetry, updates and the like would come by the proxy that notes what it is asked for, and refuses it."""
    room = WorkRoom(tmp_path)
    room.agent = Claude(ClaudeSettings(binary=str(program)))
    wait = Turn("", calls=(tool_call("Bash", command="sleep 3", description="d"),))
    with RawEndpoint(saying(whole(b"", status=b"403 Forbidden"))) as proxy, ModelServer(wait, DONE) as server:
        ways = {"HTTPS_PROXY": proxy.url, "HTTP_PROXY": proxy.url, "NO_PROXY": "127.0.0.1"}
        room.access = Lends(Endpoint(server.url, "canary-key-of-one-run", ways))
        record = room.rolled(TREE.files, CHANNEL)
        asked = tuple(proxy.heads)
    assert record.outcome is Outcome.FINISHED
    assert asked == ()
