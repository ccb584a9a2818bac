"""What `install` writes is what Claude Code loads, shown by marks in the requests that the model server received."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import evolve
from harness2_claude.substrate import Claude

from harness2_core.api import (
    Action,
    Assistant,
    Channel,
    Endpoint,
    FileChange,
    HarnessTree,
    Install,
    Observation,
    Place,
    Reasoning,
)
from harness2_core.testing import Turn, tool_call
from harness2_core.testing.offline import KEY, OfflineRoom, Ran

pytestmark = [pytest.mark.agent, pytest.mark.process]
CHANNEL = Channel(model="vendor/model")
GUARD = """\
import json, sys
command = json.load(sys.stdin)["tool_input"].get("command", "")
if "rm " in command:
    print("MARK-why", file=sys.stderr)
    sys.exit(2)
"""
TREE = HarnessTree(
    {
        "CLAUDE.md": "MARK-always-on. For pebbles load the skill pebbles.\n",
        ".claude/skills/pebbles/SKILL.md": "---\ndescription: MARK-skill-listed.\n---\nMARK-skill-body.\n",
        ".claude/skills/pebbles/scripts/weigh.py": "print('MARK-weighed')\n",
        ".claude/agents/checker.md": "---\nname: checker\ndescription: MARK-agent-listed.\n---\nMARK-agent-body.\n",
        "scripts/count.py": "print('MARK-counted')\n",
        "scripts/guard.py": GUARD,
    }
)
DONE = Turn("Done.")


class Sandboxed(Claude):
    """As in a real sandbox, which the room is."""

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        return super().install(tree, prompt, channel, evolve(place, sandboxed=True, network="model"), endpoint)


def run(room: OfflineRoom, *turns: Turn, tree: HarnessTree = TREE, channel: Channel = CHANNEL, **more: object) -> Ran:
    return room.run(Sandboxed(), *turns, tree=tree, channel=channel, base="", **more)  # type: ignore[arg-type]


def bash(command: str) -> Turn:
    return Turn("", calls=(tool_call("Bash", command=command, description="d"),))


def hooked(command: str, event: str = "PreToolUse", **more: object) -> HarnessTree:
    hooks = {"hooks": {event: [{**more, "hooks": [{"type": "command", "command": command}]}]}}
    return HarnessTree({**TREE.files, ".claude/settings.json": json.dumps(hooks)})


def marks(ran: Ran, number: int) -> set[str]:
    return set(re.findall(r"MARK-[a-z-]+", json.dumps(ran.asked[number].body)))


def test_always_on_text_and_the_lists_of_skills_and_sub_agents_are_in_the_first_request(room: OfflineRoom) -> None:
    ran = run(room, DONE, prompt="Count the pebbles – all ☃.")
    assert ran.exit.code == 0, ran.stderr
    assert marks(ran, 0) == {"MARK-always-on", "MARK-skill-listed", "MARK-agent-listed"}
    assert "- pebbles: MARK-skill-listed" in ran.asked[0].text
    assert "- checker: MARK-agent-listed" in ran.asked[0].text
    assert "Count the pebbles – all ☃." in ran.asked[0].text
    assert ran.trajectory.events == (Assistant("Done."),)


def test_the_skills_of_the_harness_are_the_only_ones(room: OfflineRoom) -> None:
    listed = run(room, DONE).asked[0].text.split("skills are available")[1]
    assert re.findall(r"^- ([\w-]+):", listed, re.MULTILINE) == ["pebbles"]


def test_the_body_of_a_skill_is_there_once_it_is_loaded(room: OfflineRoom) -> None:
    ran = run(room, Turn("", calls=(tool_call("Skill", skill="pebbles"),)), DONE)
    assert "MARK-skill-body." in ran.asked[1].text
    shown = [event.text for event in ran.trajectory.events if isinstance(event, Observation)]
    assert "MARK-skill-body." in shown[-1]


def test_every_script_is_at_the_path_that_the_harness_names(room: OfflineRoom) -> None:
    command = "python3 .claude/skills/pebbles/scripts/weigh.py && python3 scripts/count.py"
    ran = run(room, bash(command), DONE)
    assert ran.asked[1].results == ("MARK-weighed\nMARK-counted",)
    assert ran.trajectory.events[:2] == (Action("Bash", f"# d\n{command}"), Observation("MARK-weighed\nMARK-counted"))


def test_a_sub_agent_has_its_own_instructions_and_what_it_used_is_counted(room: OfflineRoom) -> None:
    start = Turn("", calls=(tool_call("Agent", subagent_type="checker", description="d", prompt="MARK-told"),))
    ran = run(room, start, bash("echo checked"), Turn("It is fine."), DONE)
    assert {"MARK-agent-body", "MARK-told", "MARK-always-on"} <= marks(ran, 1)
    assert "MARK-agent-body" not in marks(ran, 0) | marks(ran, 3)
    assert Action("checker: Bash", "# d\necho checked") in ran.trajectory.events
    assert "It is fine." in ran.asked[3].results[-1]
    assert ran.trajectory.usage.tokens == {"input": 40, "output": 20}


def test_a_hook_runs_in_the_workspace_and_blocks_a_call_visibly(room: OfflineRoom) -> None:
    tree = hooked("python3 scripts/guard.py", matcher="Bash")
    ran = run(room, bash("echo a > kept"), bash("rm kept"), DONE, tree=tree)
    assert (ran.workspace / "kept").exists()
    (blocked,) = [event for event in ran.trajectory.events if isinstance(event, Observation) and event.error]
    assert "MARK-why" in blocked.text
    assert "MARK-why" in ran.asked[2].text
    assert "calls that a hook or missing rights stopped: Bash (1)" in ran.trajectory.notes


def test_hooks_fire_at_every_kind_of_event(room: OfflineRoom) -> None:
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    hooks = {event: [{"hooks": [{"type": "command", "command": f"echo fired > {event}.txt"}]}] for event in events}
    tree = HarnessTree({**TREE.files, ".claude/settings.json": json.dumps({"hooks": hooks})})
    ran = run(room, bash("true"), DONE, tree=tree)
    assert [(ran.workspace / f"{event}.txt").exists() for event in events] == [True] * len(events)


def test_model_effort_and_key_arrive_and_the_web_does_not(room: OfflineRoom) -> None:
    ran = run(room, DONE, channel=Channel(model="vendor/model", effort="low"))
    (asked,) = ran.asked  # the server gave no turn to a request without the key
    assert asked.model == "vendor/model"
    assert asked.body["output_config"] == {"effort": "low"}
    assert asked.tools == (
        "Agent",
        "Bash",
        "Edit",
        "NotebookEdit",
        "Read",
        "Skill",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "Write",
    )


def test_nothing_is_offered_that_outlives_the_run(room: OfflineRoom) -> None:
    (asked,) = run(room, DONE).asked
    assert "run_in_background" not in json.dumps(asked.body)
    assert "memory" not in asked.text.lower()


@pytest.mark.parametrize("model", ["sonnet", "default", "claude-opus-4-1-20250805"])
def test_the_model_is_the_one_that_is_named_for_sub_agents_too(room: OfflineRoom, model: str) -> None:
    def agent(kind: str, **more: str) -> Turn:
        return Turn("", calls=(tool_call("Agent", subagent_type=kind, description="d", prompt="p", **more),))

    turns = (agent("checker", model="opus"), DONE, agent("Explore"), DONE, DONE)
    ran = run(room, *turns, channel=Channel(model=model))
    assert [asked.model for asked in ran.asked] == [model] * 5


def test_files_are_written_everywhere_in_a_sandbox_and_told_as_changes(room: OfflineRoom) -> None:
    def write(ran_in: str, path: str, text: str) -> Turn:
        return Turn("", calls=(tool_call("Write", file_path=f"{ran_in}/{path}", content=text),))

    workspace = str(room.root / "run" / "workspace")
    edit = tool_call("Edit", file_path=f"{workspace}/output/a.txt", old_string="one", new_string="two")
    ran = run(
        room,
        write(workspace, "output/a.txt", "one\n"),
        Turn("", calls=(edit,)),
        write(workspace, ".claude/x", "y\n"),
        DONE,
    )
    assert (ran.workspace / "output/a.txt").read_text() == "two\n"
    assert (ran.workspace / ".claude/x").read_text() == "y\n"
    changed = [event for event in ran.trajectory.events if isinstance(event, FileChange)]
    assert [event.path.removeprefix(f"{workspace}/") for event in changed] == [
        "output/a.txt",
        "output/a.txt",
        ".claude/x",
    ]
    assert "-one\n+two\n" in changed[1].diff
    assert ran.trajectory.notes == ()


def test_as_root_without_a_sandbox_it_works_by_rights_that_are_named(room: OfflineRoom) -> None:
    call = tool_call("Write", file_path=str(room.root / "run/workspace/output/a.txt"), content="one\n")
    ran = room.run(Claude(), bash("echo b > b"), Turn("", calls=(call,)), DONE, tree=TREE, channel=CHANNEL, base="")
    assert ran.exit.code == 0
    assert (ran.workspace / "b").exists()
    assert (ran.workspace / "output/a.txt").exists()


def test_a_long_prompt_arrives_and_one_that_begins_with_a_slash_is_no_command(room: OfflineRoom) -> None:
    long = run(room, DONE, prompt="x" * 300_000 + "MARK-end", name="long")
    assert "MARK-end" in marks(long, 0)
    command = run(room, DONE, prompt="/compact MARK-prompt", name="command")
    assert "MARK-prompt" in marks(command, 0)


def test_thoughts_are_told(room: OfflineRoom) -> None:
    ran = run(room, Turn("Done.", reasoning="Better not."))
    assert ran.trajectory.events == (Reasoning("Better not."), Assistant("Done."))


def test_many_long_descriptions_of_skills_are_all_listed(room: OfflineRoom) -> None:
    names = [f"skill{number:02d}" for number in range(40)]
    text = {f".claude/skills/{name}/SKILL.md": f"---\ndescription: {'d' * 990} MARK-{name}\n---\nx\n" for name in names}
    ran = run(room, DONE, tree=HarnessTree({"CLAUDE.md": " ".join(names), **text}))
    assert sum(f"MARK-{name}" in ran.asked[0].text for name in names) == 40


def test_the_key_is_in_no_stream(room: OfflineRoom) -> None:
    ran = run(room, DONE)
    assert KEY.encode() not in ran.stdout + ran.stderr


def test_nothing_that_a_task_brings_changes_the_harness_or_is_replaced(room: OfflineRoom) -> None:
    server = {"mcpServers": {"poison": {"command": "touch", "args": ["MARK-server-ran"]}}}
    hook = {"hooks": [{"type": "command", "command": "touch hook-ran; exit 2"}]}
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "hooks": {"PreToolUse": [hook]}, "model": "opus"}
    listed = "---\nname: poison\ndescription: MARK-poison-listed\nmodel: opus\n---\nx\n"
    poison = {
        "CLAUDE.md": "MARK-poison",
        "CLAUDE.local.md": "MARK-poison-local",
        "AGENTS.md": "MARK-poison-agents",
        "data/CLAUDE.md": "MARK-poison-below",
        "data/a.txt": "plain",
        ".claude/CLAUDE.md": "MARK-poison-inside",
        ".claude/rules/a.md": "MARK-poison-rule",
        ".claude/commands/a.md": "MARK-poison-command",
        ".claude/skills/poison/SKILL.md": listed,
        ".claude/agents/poison.md": listed,
        ".claude/settings.json": json.dumps({**settings, "permissions": {"deny": ["Bash"]}}),
        ".claude/settings.local.json": json.dumps(settings),
        ".mcp.json": json.dumps(server),
    }
    read = tool_call("Read", file_path=str(room.root / "run/workspace/data/a.txt"))
    ran = run(room, bash("echo works"), Turn("", calls=(read,)), DONE, inputs=poison)
    assert ran.exit.code == 0
    assert set().union(*(marks(ran, number) for number in range(3))) == {
        "MARK-always-on",
        "MARK-skill-listed",
        "MARK-agent-listed",
    }
    assert ran.asked[1].results == ("works",)
    assert {path: (ran.workspace / path).read_text() for path in poison} == poison
    assert not (ran.workspace / "hook-ran").exists()
    assert not (ran.workspace / "MARK-server-ran").exists()


def test_a_sub_agent_starts_no_server_even_if_its_front_matter_says_so(room: OfflineRoom) -> None:
    """The surface refuses such front matter; a tree that came another way shall find the door shut, too."""
    server = "mcpServers:\n  - poison:\n      type: stdio\n      command: touch\n      args: [server-ran]\n"
    text = f"---\nname: checker\ndescription: Checks.\n{server}---\nCheck.\n"
    start = Turn("", calls=(tool_call("Agent", subagent_type="checker", description="d", prompt="p"),))
    ran = run(room, start, DONE, DONE, tree=HarnessTree({**TREE.files, ".claude/agents/checker.md": text}))
    assert len(ran.asked) == 3
    assert not (ran.workspace / "server-ran").exists()


def test_eight_runs_side_by_side_share_nothing(room: OfflineRoom) -> None:
    def one(number: int) -> Ran:
        tree = HarnessTree({**TREE.files, "CLAUDE.md": f"MARK-own-{'abcdefgh'[number]}. Load pebbles.\n"})
        return run(room, bash(f"echo {number} > mine"), DONE, tree=tree, name=f"run{number}", limit_seconds=300)

    with ThreadPoolExecutor(8) as pool:
        all_runs = list(pool.map(one, range(8)))
    for number, ran in enumerate(all_runs):
        assert ran.exit.code == 0
        assert (ran.workspace / "mine").read_text() == f"{number}\n"
        seen = {mark for asked in range(2) for mark in marks(ran, asked) if "own" in mark}
        assert seen == {f"MARK-own-{'abcdefgh'[number]}"}
