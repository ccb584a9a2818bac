"""Nothing but the harness steers the agent: not the task's own files, not the user's, not another run's."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import evolve
from harness2_agents.pinned import OPENCODE
from harness2_agents.programs import find
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode

from harness2_core.api import Assistant, Channel, Endpoint, HarnessTree, Install, Place
from harness2_core.testing import Turn, tool_call
from harness2_core.testing.offline import OfflineRoom

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
TREE = HarnessTree(
    {
        "systemprompt.md": "MARK-prompt\n",
        "guardrails.md": "Load mine.\n",
        "skills/mine/SKILL.md": "---\nname: mine\ndescription: MARK-skill\n---\nMARK-body\n",
    }
)
DONE = Turn("Done.")


def skill(name: str) -> str:
    return f"---\nname: {name}\ndescription: POISON-skill.\n---\nPOISON-body\n"


FIRES = 'import { appendFileSync } from "node:fs"\nexport const F = async () => { appendFileSync("fired.txt", "x") }\n'
CONFIG = json.dumps({"instructions": ["more.md"], "model": "endpoint/POISON", "agent": {"build": {"prompt": "POISON"}}})
POISON = {
    "opencode.json": CONFIG,
    "more.md": "POISON-instructions\n",
    "CLAUDE.md": "POISON-claude\n",
    "CONTEXT.md": "POISON-context\n",
    "skills/other/SKILL.md": skill("other"),
    ".opencode/opencode.json": CONFIG,
    ".opencode/skill/a/SKILL.md": skill("a"),
    ".opencode/agent/helper.md": "---\ndescription: POISON-agent\nmode: subagent\n---\nPOISON\n",
    ".opencode/command/do.md": "POISON-command\n",
    ".opencode/plugin/fires.ts": FIRES,
    ".claude/skills/b/SKILL.md": skill("b"),
    ".agents/skills/c/SKILL.md": skill("c"),
}
"""What OpenCode would read of a project, but for its AGENTS.md."""


def test_what_a_task_brings_of_opencode_is_left_alone_and_means_nothing(room: OfflineRoom) -> None:
    look = Turn(calls=(tool_call("bash", command="ls", description="Look"),))
    ran = room.run(Opencode(), look, DONE, tree=TREE, channel=CHANNEL, inputs=POISON)
    assert ran.exit.code == 0
    assert "MARK-prompt" in ran.first
    assert "MARK-skill" in ran.first
    assert "POISON" not in ran.first
    assert ran.asked[0].model == "vendor/model"
    assert not (ran.workspace / "fired.txt").exists()
    assert {path: (ran.workspace / path).read_text() for path in POISON} == POISON
    assert "opencode.json" in "\n".join(ran.asked[1].results)


def test_a_tasks_own_instructions_come_after_the_harness(room: OfflineRoom) -> None:
    """AGENTS.md is the task's word to whoever works on it, and OpenCode shows it in any project."""
    ours, theirs = "MARK-prompt", "the task's own word"
    ran = room.run(Opencode(), DONE, tree=TREE, channel=CHANNEL, inputs={"AGENTS.md": f"{theirs}\n"})
    assert ran.asked[0].text.index(ours) < ran.asked[0].text.index(theirs)


def test_the_users_own_settings_never_reach_a_run(
    room: OfflineRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor those of a project that happens to lie around the runs directory."""
    agent = Opencode(OpencodeSettings(binary=str(find(OPENCODE).path)))  # before the home changes
    home = tmp_path / "user"
    poison = {**POISON, "AGENTS.md": "POISON-agents\n", ".claude/CLAUDE.md": "POISON-claude\n"}
    for place in (home, home / ".config/opencode", tmp_path):
        for path, text in poison.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
    variables = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_CONFIG_CONTENT": CONFIG,
        "OPENCODE_CONFIG_DIR": str(home / ".opencode"),
        "OPENAI_API_KEY": "POISON-key",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    everything = Turn(
        calls=(
            tool_call("bash", command="env", description="Look"),
            tool_call("read", filePath=str(tmp_path / "run/workspace/f.txt")),
        )
    )
    ran = room.run(agent, everything, DONE, tree=TREE, channel=CHANNEL, inputs={"f.txt": "a file\n"})
    assert ran.exit.code == 0
    assert "a file" in "\n".join(ran.asked[1].results)
    assert "POISON" not in str([asked.body for asked in ran.asked])
    assert not (ran.workspace / "fired.txt").exists()


class Managed(Opencode):
    """With a file where the variable says that the machine's administrator has his."""

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        install = super().install(tree, prompt, channel, place, endpoint)
        managed = install.env["OPENCODE_TEST_MANAGED_CONFIG_DIR"].removeprefix(f"{place.home}/")
        config = json.dumps({"instructions": [f"{place.workspace}/managed.md"]}).encode()
        return evolve(install, home={**install.home, f"{managed}/opencode.json": config})


def test_the_machines_own_settings_never_reach_a_run(room: OfflineRoom) -> None:
    """OpenCode reads them last, from /etc/opencode, or from where a variable says: from an empty place of the run's."""
    inputs = {"managed.md": "MARK-managed\n"}
    there = room.run(Managed(), DONE, tree=TREE, channel=CHANNEL, inputs=inputs, name="there")
    assert "MARK-managed" in there.first, "the variable is not obeyed any more"
    ran = room.run(Opencode(), DONE, tree=TREE, channel=CHANNEL, inputs=inputs)
    assert "MARK-managed" not in ran.first


def test_eight_side_by_side_share_nothing(room: OfflineRoom) -> None:
    def one(number: int) -> tuple[str, int | None, Assistant]:
        tree = HarnessTree({"systemprompt.md": f"harness-{number}-only\n"})
        write = Turn(calls=(tool_call("bash", command=f"echo {number} > mine.txt; ls", description="Write"),))
        ran = room.run(
            Opencode(),
            write,
            Turn(f"said {number}"),
            tree=tree,
            channel=CHANNEL,
            name=f"run{number}",
        )
        (last,) = (event for event in ran.trajectory.events if isinstance(event, Assistant))
        seen = str([asked.body for asked in ran.asked])
        assert [f"harness-{other}-only" in seen for other in range(8)] == [other == number for other in range(8)]
        assert (ran.workspace.parent / "context/home/.local/share/opencode/opencode.db").exists()
        return (ran.workspace / "mine.txt").read_text(), ran.exit.code, last

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [(f"{n}\n", 0, Assistant(f"said {n}")) for n in range(8)]
