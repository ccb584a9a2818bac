"""Sub-agents of the real Codex: the harness's roles are offered, told what they say, and counted."""

from __future__ import annotations

import json
import re

import pytest
from harness2_codex.settings import CodexSettings
from harness2_codex.substrate import Codex

from harness2_core.api import Action, Channel, HarnessTree, render
from harness2_core.testing import Asked, ToolCall, Turn
from harness2_core.testing.offline import OfflineRoom

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="nobody/knows-this")
TREE = HarnessTree(
    {
        "AGENTS.md": "MARK-always-on. Let counter count; pebbles is a skill.\n",
        ".agents/skills/pebbles/SKILL.md": "---\ndescription: MARK-skill.\n---\nBody\n",
        "sub_agents/counter/AGENT.md": "---\nname: counter\ndescription: MARK-role counts.\n---\nMARK-instructions\n",
    }
)


def call(tool: str, **arguments: object) -> Turn:
    return Turn(calls=(ToolCall(tool, json.dumps(arguments), "multi_agent_v1"),))


def delegating(asked: Asked) -> Turn:
    """Starts a counter, waits for it, and says what it said; as the counter, answers."""
    said = json.dumps(asked.body["input"])
    if is_child(asked):
        return Turn("seven", input_tokens=1000, output_tokens=70)
    child = re.search(r"agent_id\W+([0-9a-f-]{36})", said)
    if child is None:
        return call("spawn_agent", message="CHILD: count", agent_type="counter")
    if "wait_agent" not in said:
        return call("wait_agent", targets=[child.group(1)])
    return Turn("It says seven.")


def is_child(asked: Asked) -> bool:
    said = json.dumps(asked.body["input"])
    return "CHILD: count" in said and "spawn_agent" not in said


def test_a_role_is_offered_and_its_sub_agent_told_what_it_says(room: OfflineRoom) -> None:
    ran = room.run(Codex(), *[delegating] * 6, tree=TREE, channel=CHANNEL)
    assert "MARK-role counts." in str(ran.asked[0].body["tools"])
    assert "MARK-instructions" not in str(ran.asked[0].body)
    (child,) = (str(asked.body) for asked in ran.asked if is_child(asked))
    for mark in ("MARK-instructions", "MARK-always-on", "pebbles: MARK-skill"):
        assert mark in child


def test_what_a_sub_agent_does_is_told_and_counted(room: OfflineRoom) -> None:
    ran = room.run(Codex(), *[delegating] * 6, tree=TREE, channel=CHANNEL)
    assert Action("spawn_agent", "CHILD: count") in ran.trajectory.events
    assert "completed: seven" in render(ran.trajectory)
    others = sum(not is_child(asked) for asked in ran.asked)  # it may ask once more when its child is slow
    assert ran.trajectory.usage.tokens == {"input": 1000 + 10 * others, "output": 70 + 5 * others}


def test_sub_agents_may_be_switched_off(room: OfflineRoom) -> None:
    plain = HarnessTree({"AGENTS.md": TREE.files["AGENTS.md"]})
    on = room.run(Codex(), Turn("Done."), tree=plain, channel=CHANNEL, name="on")
    off = room.run(Codex(CodexSettings(sub_agents=False)), Turn("Done."), tree=plain, channel=CHANNEL, name="off")
    assert "spawn_agent" in str(on.asked[0].body["tools"])
    assert "spawn_agent" not in str(off.asked[0].body["tools"])
