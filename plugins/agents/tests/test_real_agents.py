"""The real agents as improvers, confined: sandbox, relay and worker are real; the model is scripted.

Skipped with a reason where an agent, its substrate, the relay or the sandbox is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from harness2_agents.pinned import PINNED
from harness2_agents.programs import find
from harness2_agents.proposer import AgentProposer

from harness2_core.api import Channel, ConfigError, Outcome, Substrate
from harness2_core.testing import ModelServer, Turn, WorkRoom
from harness2_core.testing.model_turns import Asked, tool_call

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

KEY = "canary-of-the-real-key-77aa"
MOST = 60
"""Requests that a session may take here."""
EVIDENCE = {"task.md": b"Put it into a box.\n", "rollouts/base1.md": b"[ASSISTANT]\nI used a bag.\n"}


@frozen
class Real:
    """How one agent is addressed: `shell` is its tool for commands, `base` what its endpoint ends in."""

    name: str
    shell: Callable[[str], Any]
    base: str


REAL = (
    Real("opencode", lambda command: tool_call("bash", command=command, description="a command"), "/v1"),
    Real("codex", lambda command: tool_call("exec_command", cmd=command), "/v1"),
    Real("claude", lambda command: tool_call("Bash", command=command, description="a command"), ""),
)
CLASSES = {"opencode": "Opencode", "codex": "Codex", "claude": "Claude"}


def module(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def agent_of(real: Real) -> Substrate:
    found = module(f"harness2_{real.name}.substrate")
    try:
        find(PINNED[real.name])
    except ConfigError as error:
        pytest.skip(f"{error.what}: {error.remedy}")
    made: Substrate = getattr(found, CLASSES[real.name])()
    return made


@pytest.fixture(params=REAL, ids=lambda real: real.name)
def real(request: pytest.FixtureRequest) -> Real:
    chosen: Real = request.param
    return chosen


@pytest.fixture
def room(real: Real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkRoom:
    made = WorkRoom(tmp_path)
    made.agent = agent_of(real)
    made.proposer = AgentProposer()
    sandbox = module("harness2_bubblewrap.bubblewrap").Bubblewrap()
    if sandbox.works():
        pytest.skip(sandbox.works())
    monkeypatch.setenv("REAL_KEY", KEY)
    made.sandbox = sandbox
    made.access = module("harness2_relay.access").RelayAccess()
    made.work = evolve(made.work, network="model")
    return made


def channel(real: Real, server: ModelServer, seconds: int = 120) -> Channel:
    url = server.url.removesuffix("/v1") + real.base
    return Channel("claude-sonnet-4-5", limit_seconds=seconds, options={"url": url, "key_variable": "REAL_KEY"})


def harness(room: WorkRoom) -> dict[str, bytes]:
    agent: Any = room.agent
    return {path: text.encode() for path, text in agent.base_tree().files.items()}


def in_turn(*turns: Turn) -> list[Callable[[Asked], Turn]]:
    """Plays `turns` to requests that offer tools; agents also ask for titles and the like, which get a word."""
    left = list(turns)

    def play(asked: Asked) -> Turn:
        if not json.loads(json.dumps(asked.body)).get("tools"):
            return Turn("A title")
        return left.pop(0) if len(left) > 1 else left[0]

    return [play] * MOST


def test_a_real_agent_edits_the_harness_and_answers(real: Real, room: WorkRoom) -> None:
    tree = harness(room)
    path = room.agent.surface.always_on[0]
    edit = real.shell(f"cat context/rollouts/base1.md && printf 'Use a box.\\n' >> context/harness/{path}")
    turns = (Turn("I look.", (edit,)), Turn("<notes>a box, not a bag</notes>"))
    with ModelServer(*in_turn(*turns), key=KEY) as server:
        reply = room.replied(room.session_request(tree, EVIDENCE, channel(real, server)))
        shown = json.dumps([asked.body for asked in server.asked])
    assert reply.text == "<notes>a box, not a bag</notes>"
    assert reply.accepted is not None, reply.problems
    assert reply.harvested is not None
    assert room.text(reply.harvested.entries[path]) == tree[path].decode() + "Use a box.\n"
    assert "I used a bag." in shown  # it saw the evidence
    assert "Improve it." in shown
    assert reply.usage.tokens["output"] > 0
    assert reply.usage.usd is not None
    assert PINNED[real.name].version in reply.versions["agent.toy"]
    assert len(reply.versions["config.toy"]) == 64
    assert KEY.encode() not in room.everything()


def test_a_real_agent_cannot_alter_the_evidence(real: Real, room: WorkRoom) -> None:
    alter = real.shell("chmod -R u+w context; echo forged > context/rollouts/base1.md; rm context/task.md; ls context")
    with ModelServer(*in_turn(Turn("", (alter,)), Turn("KEEP_BASE")), key=KEY) as server:
        reply = room.replied(room.session_request(harness(room), EVIDENCE, channel(real, server)))
        shown = json.dumps([asked.body for asked in server.asked])
    assert "Read-only file system" in shown
    assert not [note for note in reply.notes if "altered" in note]


def test_a_selectors_session_has_no_harness_and_is_answered(real: Real, room: WorkRoom) -> None:
    with ModelServer(*in_turn(Turn("```choice\nA\n```")), key=KEY) as server:
        reply = room.replied(room.session_request(None, {"candidates/A.md": b"x"}, channel(real, server)))
    assert (reply.outcome, reply.text, reply.harvested) == (Outcome.FINISHED, "```choice\nA\n```", None)


def test_a_refused_key_is_told_as_that(real: Real, room: WorkRoom) -> None:
    refused = Turn("Incorrect API key provided", status=401)
    with ModelServer(*[refused] * MOST, key=KEY) as server:
        (ended,) = room.perform(room.session_request(harness(room), EVIDENCE, channel(real, server, 240)))
    assert (ended.final, ended.cause) == (False, "access"), ended.note
