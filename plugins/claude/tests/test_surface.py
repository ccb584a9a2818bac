"""Which trees the surface and the rules beyond it take."""

from __future__ import annotations

import json

import pytest
from harness2_claude.substrate import Claude

from harness2_core.api import Accepted, Rejected, accept

SKILL = "---\nname: pebbles\ndescription: For pebbles.\nallowed-tools: Bash\n---\nSort them.\n"
AGENT = "---\nname: checker\ndescription: Checks.\ntools: Read\n---\nCheck.\n"
GOOD = {
    "CLAUDE.md": "Load pebbles. Ask a@example.org about @property and `@/etc/hosts`; run `python3 scripts/guard.py`.\n",
    ".claude/skills/pebbles/SKILL.md": SKILL,
    ".claude/skills/pebbles/scripts/weigh.sh": "#!/bin/sh\necho 1\n",
    ".claude/agents/checker.md": AGENT,
    "scripts/guard.py": "print()\n",
}


def refused(files: dict[str, str]) -> str:
    agent = Claude()
    taken = accept(agent.surface, {path: text.encode() for path, text in files.items()}, [agent.check_tree])
    return "\n".join(taken.problems) if isinstance(taken, Rejected) else ""


def hooks(command: str = "python3 scripts/guard.py", event: str = "PreToolUse", **more: object) -> dict[str, str]:
    entry = {"hooks": [{"type": "command", "command": command}], **more}
    return {**GOOD, ".claude/settings.json": json.dumps({"hooks": {event: [entry]}})}


def test_a_tree_with_a_file_of_each_kind_is_taken() -> None:
    assert refused(hooks(matcher="Bash|Write")) == ""
    assert refused(hooks(matcher="*", event="Stop")) == ""


def test_the_harness_to_begin_with_is_taken_as_it_is() -> None:
    base = Claude().base_tree()
    taken = accept(Claude().surface, {path: text.encode() for path, text in base.files.items()}, [Claude().check_tree])
    assert isinstance(taken, Accepted)
    assert taken.tree == base


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("permissions", {"allow": ["*"]}),
        ("env", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}),
        ("apiKeyHelper", "cat key"),
        ("model", "opus"),
        ("enableAllProjectMcpServers", True),
        ("sandbox", {"enabled": False}),
    ],
)
def test_settings_are_hooks_and_nothing_else(key: str, value: object) -> None:
    files = {**GOOD, ".claude/settings.json": json.dumps({"hooks": {}, key: value})}
    assert ".claude/settings.json: needs one top-level object 'hooks'" in refused(files)


@pytest.mark.parametrize(
    "path", [".claude/settings.local.json", ".mcp.json", ".claude/commands/a.md", "CLAUDE.local.md"]
)
def test_what_else_claude_code_would_load_is_off_the_surface(path: str) -> None:
    assert "not on the editable surface" in refused({**GOOD, path: "{}"})


@pytest.mark.parametrize(
    "line", ["model: opus", "effort: low", "hooks: {}", "shell: zsh", "disable-model-invocation: true"]
)
def test_a_skill_sets_no_model_rights_or_hooks(line: str) -> None:
    text = SKILL.replace("allowed-tools: Bash", line)
    assert "front matter may not have" in refused({**GOOD, ".claude/skills/pebbles/SKILL.md": text})


@pytest.mark.parametrize("line", ["model: opus", "permissionMode: plan", "mcpServers: {}", "hooks: {}", "memory: user"])
def test_a_sub_agent_sets_no_model_rights_servers_or_hooks(line: str) -> None:
    text = AGENT.replace("tools: Read", line)
    assert "front matter may not have" in refused({**GOOD, ".claude/agents/checker.md": text})


def test_a_sub_agent_without_its_name_would_not_be_listed_and_is_refused() -> None:
    text = AGENT.replace("name: checker\n", "")
    assert "needs 'name: checker'" in refused({**GOOD, ".claude/agents/checker.md": text})


def test_claude_md_must_exist_and_has_a_cap() -> None:
    assert "CLAUDE.md: must exist" in refused({"scripts/guard.py": "print()\n"})
    assert "the cap is 24,000" in refused({**GOOD, "CLAUDE.md": GOOD["CLAUDE.md"] + "x" * 24_000})


@pytest.mark.parametrize("path", ["/etc/hostname", "~/notes.md", "./README.md", "../up.md", "scripts/guard.py"])
def test_an_import_of_another_file_into_the_context_is_refused(path: str) -> None:
    assert f"'@{path}' makes Claude Code read" in refused({**GOOD, "CLAUDE.md": GOOD["CLAUDE.md"] + f"See @{path}\n"})


def test_a_hook_that_would_make_claude_code_pass_over_all_hooks_is_refused() -> None:
    assert "no regular expression" in refused(hooks(matcher="Bash("))
    slow = {"type": "command", "command": "true", "timeout": "5"}
    assert "'timeout' must be a number" in refused(hooks(hooks=[slow]))
    assert "unknown event 'OnTool'" in refused(hooks(event="OnTool"))
    assert "which the tree does not ship" in refused(hooks("python3 scripts/gone.py"))
