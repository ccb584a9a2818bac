"""What `install` writes is what Codex loads, shown by marks in the requests that the model server received."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness2_codex.substrate import Codex

from harness2_core.api import Action, Assistant, Channel, FileChange, HarnessTree, Observation, render
from harness2_core.testing import ToolCall, Turn, tool_call
from harness2_core.testing.offline import KEY, OfflineRoom, Ran

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
SKILL = "---\ndescription: MARK-description, for pebbles.\n---\nMARK-body: sort them by weight.\n"
TREE = HarnessTree(
    {
        "AGENTS.md": "MARK-always-on. For pebbles load the skill pebbles.\n",
        ".agents/skills/pebbles/SKILL.md": SKILL,
        ".agents/skills/pebbles/scripts/weigh.py": "print('MARK-weighed')\n",
        "scripts/count.py": "print('MARK-counted')\n",
    }
)
DONE = Turn("Done.")


def shell(command: str, text: str = "") -> Turn:
    return Turn(text, calls=(tool_call("exec_command", cmd=command),))


def hooked(command: str, event: str = "PreToolUse", **fields: object) -> HarnessTree:
    hooks = {"hooks": {event: [{**fields, "hooks": [{"type": "command", "command": command, "timeout": 20}]}]}}
    return HarnessTree({**TREE.files, ".codex/hooks.json": json.dumps(hooks)})


def told(ran: Ran) -> str:
    """What the model was told of its last tool call."""
    outputs = [item["output"] for item in body(ran, -1)["input"] if "output" in item]
    return str(outputs[-1])


def body(ran: Ran, number: int) -> Any:
    return json.loads(json.dumps(ran.asked[number].body))


def test_always_on_text_and_the_list_of_skills_are_in_the_first_request(room: OfflineRoom) -> None:
    ran = room.run(Codex(), DONE, tree=TREE, channel=CHANNEL, prompt="Count the pebbles – all ☃.")
    assert ran.exit.code == 0
    for mark in ("MARK-always-on", "pebbles: MARK-description", ".agents/skills/pebbles/SKILL.md", "all ☃"):
        assert mark in ran.first
    assert "MARK-body" not in ran.first
    assert Assistant("Done.") in ran.trajectory.events


def test_a_skill_and_every_script_are_at_the_paths_that_the_harness_names(room: OfflineRoom) -> None:
    commands = "cat .agents/skills/pebbles/SKILL.md; python3 .agents/skills/pebbles/scripts/weigh.py"
    ran = room.run(Codex(), shell(f"{commands}; python3 scripts/count.py"), DONE, tree=TREE, channel=CHANNEL)
    for mark in ("MARK-body", "MARK-weighed", "MARK-counted"):
        assert mark in told(ran)
    assert Action("shell", f"{commands}; python3 scripts/count.py") in ran.trajectory.events


def test_a_hook_runs_in_the_workspace_and_blocks_a_command_visibly(room: OfflineRoom) -> None:
    guard = "import sys\nif 'rm ' in sys.stdin.read():\n    print('MARK-why', file=sys.stderr)\n    sys.exit(2)\n"
    tree = HarnessTree({**hooked("python3 scripts/guard.py", matcher="Bash").files, "scripts/guard.py": guard})
    ran = room.run(
        Codex(), shell("echo a > kept"), shell("rm kept", "Away."), shell("ls"), DONE, tree=tree, channel=CHANNEL
    )
    assert (ran.workspace / "kept").exists()
    events = ran.trajectory.events
    blocked = events.index(Action("shell", "rm kept"))
    answer = events[blocked + 1]
    assert isinstance(answer, Observation)
    assert (answer.error, "MARK-why" in answer.text) == (True, True)
    assert events.index(Action("shell", "echo a > kept")) < blocked < events.index(Action("shell", "ls"))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"])
def test_hooks_fire_at(room: OfflineRoom, event: str) -> None:
    ran = room.run(Codex(), shell("true"), DONE, tree=hooked(f"echo fired > {event}.txt", event), channel=CHANNEL)
    assert (ran.workspace / f"{event}.txt").read_text() == "fired\n"


def test_model_effort_and_key_arrive_and_the_search_of_the_web_does_not(room: OfflineRoom) -> None:
    ran = room.run(Codex(), DONE, tree=TREE, channel=Channel(model="vendor/model", effort="high"))
    (asked,) = ran.asked  # the server gave no turn to a request without the key
    assert asked.model == "vendor/model"
    assert body(ran, 0)["reasoning"]["effort"] == "high"
    assert "web_search" not in str(asked.body["tools"])


def test_what_the_agent_runs_does_not_have_the_key(room: OfflineRoom) -> None:
    ran = room.run(Codex(), shell("env"), DONE, tree=TREE, channel=CHANNEL)
    assert "HARNESS2_OUTPUT=" in told(ran)
    assert KEY not in told(ran)
    assert KEY.encode() not in ran.stdout + ran.stderr


def test_a_model_that_codex_knows_gets_its_own_tools(room: OfflineRoom) -> None:
    ran = room.run(Codex(), DONE, tree=TREE, channel=Channel(model="gpt-5.5"))
    assert "apply_patch" in str(ran.asked[0].body["tools"])
    assert ran.trajectory.notes == ()


def test_a_patch_of_the_shell_is_told_as_changes_of_files(room: OfflineRoom) -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+new\n*** Update File: b.txt\n@@\n-old\n+newer\n*** End Patch"
    ran = room.run(
        Codex(),
        shell(f"apply_patch <<'EOF'\n{patch}\nEOF\n"),
        DONE,
        tree=TREE,
        channel=CHANNEL,
        inputs={"b.txt": "old\n"},
    )
    assert (ran.workspace / "b.txt").read_text() == "newer\n"
    changed = {Path(event.path).name for event in ran.trajectory.events if isinstance(event, FileChange)}
    assert changed == {"a.txt", "b.txt"}


def test_the_patch_tool_of_a_model_that_has_one_is_told_as_changes_of_files(room: OfflineRoom) -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch\n"
    wrong = patch.replace("Add", "Update").replace("a.txt", "none.txt")
    turns = [Turn(calls=(ToolCall("apply_patch", text, custom=True),)) for text in (patch, wrong)]
    ran = room.run(Codex(), *turns, DONE, tree=TREE, channel=Channel(model="gpt-5.5"))
    assert (ran.workspace / "a.txt").read_text() == "new\n"
    assert [Path(event.path).name for event in ran.trajectory.events if isinstance(event, FileChange)] == ["a.txt"]
    (failed,) = (event for event in ran.trajectory.events if isinstance(event, Observation) and event.error)
    assert "none.txt" in failed.text


def test_a_model_that_calls_tools_by_code_is_confined_and_told_alike(room: OfflineRoom) -> None:
    """Newer models get one tool, `exec`, that runs JavaScript; what that calls are the tools of old."""
    code = "for (const cmd of ['echo MARK-kept > kept', 'rm kept', 'cat kept']) "
    code += "{ try { text(await tools.exec_command({cmd})) } catch (error) { text(String(error)) } }"
    hook = "grep -q 'rm kept' && { echo MARK-why >&2; exit 2; }; exit 0"
    turn = Turn(calls=(ToolCall("exec", code, custom=True),))
    ran = room.run(Codex(), turn, DONE, tree=hooked(hook), channel=Channel(model="gpt-6-sol"))
    assert "MARK-always-on" in ran.first
    assert "pebbles: MARK-description" in ran.first
    shown = render(ran.trajectory)
    assert "[ACTION] shell\ncat kept\n\n[OBSERVATION]\nMARK-kept" in shown
    assert "[ACTION] shell\nrm kept\n\n[OBSERVATION ERROR]" in shown
    assert "MARK-why" in shown
    assert "UNKNOWN" not in shown
