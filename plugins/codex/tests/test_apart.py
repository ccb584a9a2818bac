"""Nothing but the harness steers the agent: not the task's own files, not the user's, not another run's."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness2_codex.settings import CodexSettings
from harness2_codex.substrate import Codex

from harness2_core.api import Assistant, Channel, HarnessTree
from harness2_core.testing import Turn, tool_call
from harness2_core.testing.offline import OfflineRoom

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
TREE = HarnessTree({"AGENTS.md": "MARK-always-on\n"})
DONE = Turn("Done.")


def skill(name: str) -> str:
    return f"---\nname: {name}\ndescription: POISON-skill.\n---\nPOISON-body\n"


def hooks(words: str) -> str:
    entry = {"hooks": [{"type": "command", "command": f"echo {words} >> fired.txt"}]}
    return json.dumps({"hooks": {"SessionStart": [entry], "UserPromptSubmit": [entry]}})


POISON = {
    "AGENTS.md": "POISON-agents\n",
    "AGENTS.override.md": "POISON-override\n",
    ".agents/skills/other/SKILL.md": skill("other"),
    ".codex/skills/more/SKILL.md": skill("more"),
    ".codex/hooks.json": hooks("POISON"),
    ".codex/config.toml": 'developer_instructions = "POISON-config"\nmodel = "POISON-model"\n',
    ".codex/agents/helper.toml": 'name = "helper"\ndescription = "POISON-agent"\ndeveloper_instructions = "POISON"\n',
    ".codex/rules/none.rules": 'prefix_rule(pattern=["ls"], decision="forbidden")\n',
}


def test_what_a_task_brings_of_codex_is_left_alone_and_means_nothing(room: OfflineRoom) -> None:
    listed = Turn(calls=(tool_call("exec_command", cmd="ls"),))
    ran = room.run(Codex(), listed, DONE, tree=TREE, channel=CHANNEL, inputs=POISON)
    assert ran.exit.code == 0
    assert "MARK-always-on" in ran.first
    assert "POISON" not in ran.first
    assert ran.asked[0].model == "vendor/model"
    assert not (ran.workspace / "fired.txt").exists()
    assert {path: (ran.workspace / path).read_text() for path in POISON} == POISON
    assert "AGENTS.override.md" in str(ran.asked[1].body["input"])


def test_a_harness_with_hooks_does_not_wake_those_of_the_task(room: OfflineRoom) -> None:
    tree = HarnessTree({**TREE.files, ".codex/hooks.json": hooks("ours")})
    ran = room.run(Codex(), DONE, tree=tree, channel=CHANNEL, inputs=POISON)
    assert set((ran.workspace / "fired.txt").read_text().split()) == {"ours"}


def test_the_users_own_settings_never_reach_a_run(
    room: OfflineRoom, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a repository that happens to lie around the runs directory."""
    home = tmp_path / "user"
    for place in (home, home / ".codex", tmp_path):
        for path, text in POISON.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
    (tmp_path / ".git").mkdir()
    for name, value in {"HOME": home, "CODEX_HOME": home / ".codex", "OPENAI_API_KEY": "POISON-key"}.items():
        monkeypatch.setenv(name, str(value))
    everything = Turn(calls=(tool_call("exec_command", cmd="env"),))
    agent = Codex(CodexSettings(str(program)))  # or it would be looked for in that home
    ran = room.run(agent, everything, DONE, tree=TREE, channel=CHANNEL)
    assert ran.exit.code == 0
    assert "POISON" not in str([asked.body for asked in ran.asked])
    assert not (ran.workspace / "fired.txt").exists()


def test_eight_side_by_side_share_nothing(room: OfflineRoom) -> None:
    def one(number: int) -> tuple[str, str, Assistant]:
        tree = HarnessTree({"AGENTS.md": f"harness-{number}-only\n"})
        write = Turn(calls=(tool_call("exec_command", cmd=f"echo {number} > mine.txt; ls"),))
        ran = room.run(Codex(), write, Turn(f"said {number}"), tree=tree, channel=CHANNEL, name=f"run{number}")
        (last,) = (event for event in ran.trajectory.events if isinstance(event, Assistant))
        seen = str([asked.body for asked in ran.asked])
        assert [f"harness-{other}-only" in seen for other in range(8)] == [other == number for other in range(8)]
        return (ran.workspace / "mine.txt").read_text(), str(ran.exit.code), last

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [(f"{n}\n", "0", Assistant(f"said {n}")) for n in range(8)]
