"""A whole rollout of the real OpenCode as it is really run: sandbox, relay, worker; only the model is scripted."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from harness2_opencode.substrate import Opencode

from harness2_core.api import Channel, FrozenMap, Outcome
from harness2_core.testing import ModelServer, Turn, WorkRoom, tool_call

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]
bubblewrap = pytest.importorskip("harness2_bubblewrap.bubblewrap", reason="harness2-bubblewrap is not installed")
relay = pytest.importorskip("harness2_relay.access", reason="harness2-relay is not installed")

KEY = "canary-of-the-real-key-5b02"
TREE = {
    "systemprompt.md": "MARK-prompt\n",
    "guardrails.md": "For sums load the skill sums.\n",
    "skills/sums/SKILL.md": "---\nname: sums\ndescription: MARK-skill\n---\nRun python skills/sums/scripts/add.py\n",
    "skills/sums/scripts/add.py": "print(sum(map(int, open('numbers.txt').read().split())))\n",
    "plugin/guard.ts": "export const Guard = async () => ({})\n",
}


@pytest.fixture
def confined(tmp_path: Path, lacking: str, monkeypatch: pytest.MonkeyPatch) -> WorkRoom:
    if lacking:
        pytest.skip(lacking)
    room = WorkRoom(tmp_path)
    room.agent, room.sandbox, room.access = Opencode(), bubblewrap.Bubblewrap(), relay.RelayAccess()
    room.work = evolve(room.work, network="model")
    monkeypatch.setenv("REAL_KEY", KEY)
    return room


def channel(server: ModelServer) -> Channel:
    options = FrozenMap({"url": f"{server.url}/v1", "key_variable": "REAL_KEY"})
    return Channel("gpt-5-mini", "high", 9, 600, options)


def shell(command: str) -> Turn:
    return Turn(calls=(tool_call("bash", command=command, description="Run it"),))


def test_a_rollout_is_confined_delivers_and_is_told(confined: WorkRoom) -> None:
    turns = (
        Turn(calls=(tool_call("skill", name="sums"),)),
        shell("python3 skills/sums/scripts/add.py | tee output/sum.txt; pwd; ls -a / ~"),
        shell("env; cat ~/.config/opencode/opencode.json"),
        Turn("It is three.", output_tokens=50),
    )
    with ModelServer(*turns, key=KEY) as server:
        done = confined.rolled(TREE, channel(server))
        asked = server.asked
    assert (done.outcome, done.delivered) == (Outcome.FINISHED, True)
    assert "MARK-prompt" in asked[0].text
    assert "/workspace/skills/sums/SKILL.md" in asked[0].text
    assert "webfetch" not in asked[0].tools
    transcript = confined.text(done.transcript)
    assert "3\n/workspace\n" in transcript
    assert KEY.encode() not in confined.everything()
    assert str(confined.runs).encode() not in confined.everything()
    assert done.usage.usd is not None
    assert done.usage.tokens["output"] == 65
    assert done.versions["agent.toy"] == f"opencode {Opencode().tested_version}"


def test_a_refused_key_is_no_rollout(confined: WorkRoom) -> None:
    with ModelServer(key="canary-of-another-key") as server:
        (ended,) = confined.perform(confined.rollout_request(TREE, channel=channel(server)))
    assert (ended.final, ended.cause) == (False, "access"), ended.note
