"""What `install` writes is what OpenCode loads, shown by marks in the requests that the model server received."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode

from harness2_core.api import Action, Assistant, Channel, FileChange, FrozenMap, HarnessTree, Observation, Reasoning
from harness2_core.testing import Turn, tool_call
from harness2_core.testing.offline import KEY, OfflineRoom, Ran

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
TREE = HarnessTree(
    {
        "systemprompt.md": "MARK-prompt\n",
        "guardrails.md": "MARK-guardrails. For pebbles load the skill pebbles_2.\n",
        "LongTermMEMORY.md": "MARK-memory {{ as it is }} {env:HOME}\n",
        "tool_descriptions/tool_guidance.md": "MARK-tools\n",
        "skills/pebbles_2/SKILL.md": "---\nname: pebbles_2\ndescription: 'MARK-description: for pebbles.'\n---\n"
        "MARK-body: run python skills/pebbles_2/scripts/weigh.py\n",
        "skills/pebbles_2/scripts/weigh.py": "print('MARK-weighed')\n",
        "skills/pebbles_2/references/sizes.md": "MARK-sizes\n",
        "sub_agents/sorter/AGENT.md": "---\ndescription: MARK-sorter\nmode: subagent\n---\nMARK-sorter-prompt\n",
        "scripts/count.py": "print('MARK-counted')\n",
        "plugin/guard.ts": """\
import { appendFileSync } from "node:fs"
import type { Plugin } from "@opencode-ai/plugin"

export const Guard: Plugin = async ({ directory }) => ({
  "tool.execute.before": async (input: { tool: string }, output: { args: any }) => {
    appendFileSync(`${directory}/fired.txt`, input.tool + "\\n")
    if (String(output.args.command).includes("forbidden")) throw new Error("MARK-blocked")
  },
})
""",
    }
)
DONE = Turn("Done.")
PROMPT = '-- Count the "pebbles" – all ☃.\n@AGENTS.md ' + "and count on, " * 12_000 + "to the end"
"""Longer than an argument of a command may be."""


def shell(command: str, text: str = "") -> Turn:
    return Turn(text, calls=(tool_call("bash", command=command, description="Run it"),))


def told(ran: Ran) -> str:
    """What the model was told of its tool calls, in its last request."""
    return "\n".join(ran.asked[-1].results)


def test_always_on_text_and_the_lists_are_in_the_first_request(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), DONE, tree=TREE, channel=CHANNEL, prompt=PROMPT)
    assert ran.exit.code == 0
    assert ran.trajectory.notes == ()
    first = ran.asked[0].text
    marks = ("MARK-prompt", "MARK-guardrails", "MARK-memory {{ as it is }} {env:HOME}", "MARK-tools")
    assert sorted(marks, key=first.index) == list(marks)
    assert "<name>pebbles_2</name>" in first
    assert "MARK-description: for pebbles." in first
    assert "MARK-sorter" in str(ran.asked[0].body["tools"])
    assert PROMPT in first
    assert not [
        mark for mark in ("MARK-body", "MARK-sizes", "MARK-sorter-prompt", "customize-opencode") if mark in first
    ]
    assert Assistant("Done.") in ran.trajectory.events


def test_the_body_of_a_skill_comes_by_its_tool(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), Turn(calls=(tool_call("skill", name="pebbles_2"),)), DONE, tree=TREE, channel=CHANNEL)
    assert "MARK-body" in told(ran)
    assert str(ran.workspace / "skills/pebbles_2/scripts/weigh.py") in told(ran)


def test_files_are_at_the_paths_that_the_harness_names(room: OfflineRoom) -> None:
    commands = "python3 scripts/count.py; python3 skills/pebbles_2/scripts/weigh.py; cat skills/pebbles_2/references/*"
    ran = room.run(Opencode(), shell(commands), DONE, tree=TREE, channel=CHANNEL)
    assert Observation("MARK-counted\nMARK-weighed\nMARK-sizes\n") in ran.trajectory.events


def test_a_sub_agent_works_by_its_own_prompt_and_is_told_and_counted(room: OfflineRoom) -> None:
    task = tool_call("task", description="Sort", prompt="Sort these.", subagent_type="sorter")
    ran = room.run(
        Opencode(),
        Turn(calls=(task,), input_tokens=100),
        Turn("I look.", input_tokens=1000, calls=shell("echo sorted").calls),
        Turn("All sorted.", input_tokens=2000, output_tokens=70),
        DONE,
        tree=TREE,
        channel=CHANNEL,
    )
    assert "MARK-sorter-prompt" in ran.asked[1].text
    assert "Sort these." in ran.asked[1].text
    assert "All sorted." in told(ran)
    events = ran.trajectory.events
    assert Reasoning("sorter: I look.") in events
    assert Observation("sorted\n") in events
    assert [event.name for event in events if isinstance(event, Action)] == ["sorter: bash", "task"]
    assert events[-1] == Assistant("Done.")
    assert ran.trajectory.usage.tokens == {"input": 3110, "output": 85}


def test_a_plugin_fires_and_blocks(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), shell("echo forbidden > made.txt"), DONE, tree=TREE, channel=CHANNEL)
    assert (ran.workspace / "fired.txt").read_text() == "bash\n"
    assert not (ran.workspace / "made.txt").exists()
    assert "MARK-blocked" in told(ran)
    assert Observation("MARK-blocked", error=True) in ran.trajectory.events


def test_plugins_that_do_not_load_are_told(room: OfflineRoom) -> None:
    broken = {
        "plugin/syntax.ts": "export default async ( => {",
        "plugin/throws.ts": "export const Throws = async () => { throw new Error('it broke') }",
        "plugin/lacks.ts": "import { a } from 'not-there'\nexport const Lacks = async () => a",
    }
    ran = room.run(Opencode(), DONE, tree=HarnessTree({**TREE.files, **broken}), channel=CHANNEL)
    assert ran.exit.code == 0
    names = [note.removeprefix("a plugin of the harness did not load: ") for note in ran.trajectory.notes]
    assert sorted(name.split(":")[0] for name in names) == ["lacks.ts", "syntax.ts", "throws.ts"]
    assert any("it broke" in name for name in names)


def test_no_library_is_fetched_for_plugins(room: OfflineRoom) -> None:
    """OpenCode would wait for npm to bring it, for minutes where there is no network."""
    ran = room.run(Opencode(), DONE, tree=TREE, channel=CHANNEL)
    assert ran.exit.code == 0
    home = ran.workspace.parent / "context" / "home"
    assert (home / ".config/opencode/plugin/guard.ts").exists()
    assert not (home / ".npm").exists()
    assert [path.name for path in (home / ".config/opencode/node_modules").iterdir()] == [".keep"]


def test_the_channel_is_what_the_provider_is_asked_for(room: OfflineRoom) -> None:
    channel = Channel("vendor/model-1.5", "high", options=FrozenMap({"output_tokens": "9000"}))
    ran = room.run(Opencode(), DONE, tree=TREE, channel=channel)
    (asked,) = ran.asked
    assert asked.api == "chat"
    assert asked.model == "vendor/model-1.5"
    assert asked.body["reasoning_effort"] == "high"
    assert asked.body["max_tokens"] == 9000


def test_an_answer_may_have_as_many_tokens_as_the_setting_says_and_no_effort_is_made_up(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), DONE, tree=TREE, channel=CHANNEL)
    assert ran.asked[0].body["max_tokens"] == OpencodeSettings().output_tokens == 64_000
    assert "reasoning_effort" not in ran.asked[0].body


def test_a_model_that_takes_images_is_shown_them(room: OfflineRoom) -> None:
    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    )
    make = shell(f"echo {base64.b64encode(pixel).decode()} | base64 -d > one.png")
    look = Turn(calls=(tool_call("read", filePath="one.png"),))
    shown = {}
    for images in ("true", "false"):
        channel = Channel("vendor/model", options=FrozenMap({"images": images}))
        ran = room.run(Opencode(), make, look, DONE, tree=TREE, channel=channel, name=images)
        shown[images] = "data:image/png;base64," in str(ran.asked[-1].body["messages"])
    assert shown == {"true": True, "false": False}


def test_files_that_it_says_it_changed_come_with_their_diff(room: OfflineRoom) -> None:
    path = str(room.root / "run/workspace/output/a.txt")
    ran = room.run(
        Opencode(),
        Turn(calls=(tool_call("write", filePath=path, content="one\ntwo\n"),)),
        Turn(calls=(tool_call("edit", filePath=path, oldString="two", newString="2"),)),
        Turn(calls=(tool_call("write", filePath=path, content="over\n"),)),
        DONE,
        tree=TREE,
        channel=CHANNEL,
    )
    assert Path(path).read_text() == "over\n"
    assert [event for event in ran.trajectory.events if isinstance(event, FileChange)] == [
        FileChange(path, f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,2 @@\n+one\n+two\n"),
        FileChange(path, f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        FileChange(path, f"--- {path}\n+++ {path}\n@@ the whole file was replaced @@\n+over\n"),
    ]


def test_models_that_edit_by_patches_are_followed_too(room: OfflineRoom) -> None:
    """OpenCode gives them another tool, by their name."""
    patch = "*** Begin Patch\n*** Add File: n.txt\n+one\n*** Update File: f.txt\n@@\n-old\n+new\n*** End Patch"
    ran = room.run(
        Opencode(),
        Turn(calls=(tool_call("apply_patch", patchText=patch),)),
        DONE,
        tree=TREE,
        channel=Channel("gpt-5-mini"),
        inputs={"f.txt": "old\n"},
    )
    changes = [event for event in ran.trajectory.events if isinstance(event, FileChange)]
    assert [Path(change.path).name for change in changes] == ["n.txt", "f.txt"]
    assert "+one\n" in changes[0].diff
    assert "-old\n+new\n" in changes[1].diff


def test_the_key_is_in_a_variable_and_in_no_file(room: OfflineRoom) -> None:
    ran = room.run(Opencode(), shell("grep -rlF canary''-key . ~ || echo nowhere"), DONE, tree=TREE, channel=CHANNEL)
    assert "nowhere" in told(ran)
    assert KEY not in ran.stdout.decode()


def test_searches_work(room: OfflineRoom) -> None:
    ran = room.run(
        Opencode(),
        Turn(calls=(tool_call("grep", pattern="needle"), tool_call("glob", pattern="*.hay"))),
        DONE,
        tree=TREE,
        channel=CHANNEL,
        inputs={"stack.hay": "a needle\n"},
    )
    assert "a needle" in told(ran)
    assert "stack.hay" in told(ran)
