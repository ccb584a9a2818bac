"""What may be edited, and what is refused before Codex passes over it in silence."""

from __future__ import annotations

import json

import pytest
from harness2_codex.settings import CodexSettings
from harness2_codex.substrate import Codex
from harness2_codex.surface import SURFACE, hook_problems

from harness2_core.api import Accepted, HarnessTree, Rejected, accept

BASE = {"AGENTS.md": "Use the skill pebbles.\n"}
SKILL = "---\ndescription: Sorts pebbles.\n---\nSort.\n"
SUB_AGENT = "---\nname: counter\ndescription: Counts pebbles.\n---\nCount them.\n"
COMMAND = {"type": "command", "command": "true"}


def taken(files: dict[str, str]) -> Accepted | Rejected:
    return accept(SURFACE, {path: text.encode() for path, text in {**BASE, **files}.items()}, [Codex().check_tree])


def problems(files: dict[str, str]) -> str:
    found = taken(files)
    assert isinstance(found, Rejected)
    return "; ".join(found.problems)


def hooks(value: object) -> dict[str, str]:
    return {".codex/hooks.json": json.dumps(value)}


def test_the_base_harness_is_taken_small_and_of_no_task() -> None:
    tree = Codex().base_tree()
    assert isinstance(accept(SURFACE, {path: text.encode() for path, text in tree.files.items()}), Accepted)
    assert sum(map(len, tree.files.values())) < 1_000


@pytest.mark.parametrize(
    "path",
    [
        ".agents/skills/pebbles/SKILL.md",
        ".agents/skills/pebbles/scripts/a.py",
        ".agents/skills/pebbles/scripts/Any name.sh",
        ".agents/skills/pebbles/references/a.md",
        "scripts/a.py",
        "sub_agents/counter/AGENT.md",
    ],
)
def test_it_takes(path: str) -> None:
    text = {"SKILL.md": SKILL, "AGENT.md": SUB_AGENT}.get(path.rpartition("/")[2], "pass\n")
    assert isinstance(taken({path: text}), Accepted)


def test_a_sub_agent_has_a_name_a_description_and_something_to_do() -> None:
    path = "sub_agents/counter/AGENT.md"
    assert "needs 'name: counter'" in problems({path: SKILL})
    assert "says nothing" in problems({path: SUB_AGENT.partition("Count them")[0]})
    assert "may not have 'model'" in problems({path: SUB_AGENT.replace("name:", "model: other\nname:")})
    own = problems({"sub_agents/worker/AGENT.md": SUB_AGENT.replace("counter", "worker")})
    assert "a role 'worker' of its own" in own


def test_without_sub_agents_there_are_no_files_for_them() -> None:
    surface = Codex(CodexSettings(sub_agents=False)).surface
    files = {**BASE, "sub_agents/counter/AGENT.md": SUB_AGENT}
    assert isinstance(accept(surface, {path: text.encode() for path, text in files.items()}), Rejected)


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.override.md",
        "CLAUDE.md",
        ".codex/config.toml",
        ".codex/agents/a.toml",
        ".agents/agents/a.md",
        ".agents/skills/Pebbles/SKILL.md",
        ".agents/skills/pebbles/deep/er/a.md",
        "scripts/a-b.py",
        "scripts/a.sh",
    ],
)
def test_it_does_not_take(path: str) -> None:
    assert path in problems({path: SKILL})


def test_always_on_text_is_needed_and_has_a_cap() -> None:
    assert "must exist and not be blank" in problems({"AGENTS.md": " \n"})
    assert isinstance(taken({"AGENTS.md": "a" * 8_000}), Accepted)
    assert "the cap is 8,000" in problems({"AGENTS.md": "a" * 8_001})


def test_the_name_of_a_skill_may_be_missing_but_not_another() -> None:
    assert isinstance(
        taken({".agents/skills/pebbles/SKILL.md": SKILL.replace("desc", "name: pebbles\ndesc")}), Accepted
    )
    assert "make them equal" in problems({".agents/skills/pebbles/SKILL.md": SKILL.replace("desc", "name: x\ndesc")})


def test_a_script_that_is_invoked_must_be_shipped_at_that_path() -> None:
    path = ".agents/skills/pebbles/scripts/weigh.py"
    text = {"AGENTS.md": f"Use the skill pebbles: python3 {path}\n"}
    assert path in problems(text)
    assert isinstance(taken({**text, path: "pass\n"}), Accepted)


@pytest.mark.parametrize("event", SURFACE.hook_events)
def test_hooks_of_every_event_are_taken(event: str) -> None:
    assert isinstance(taken(hooks({"hooks": {event: [{"matcher": "Bash|apply_.*", "hooks": [COMMAND]}]}})), Accepted)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"PreToolUse": []}, "top-level object 'hooks'"),
        ({"hooks": {"BeforeTool": []}}, "unknown event"),
        ({"hooks": {"Stop": {}}}, "must be a list"),
        ({"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}, "'type': 'command'"),
        ({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": " "}]}]}}, "'type': 'command'"),
        ({"hooks": {"Stop": [{"hooks": []}]}}, "'type': 'command'"),
        ({"hooks": {"Stop": [{"matcher": "(", "hooks": [COMMAND]}]}}, "no regular expression"),
        ({"hooks": {"Stop": [{"hooks": [{**COMMAND, "timeout": "9"}]}]}}, "'timeout' must be"),
        ({"hooks": {"Stop": [{"hooks": [{**COMMAND, "timeout": 1.5}]}]}}, "'timeout' must be"),
        ({"hooks": {"Stop": [{"hooks": [{**COMMAND, "timeout": True}]}]}}, "'timeout' must be"),
    ],
)
def test_hooks_that_codex_would_pass_over_are_refused(value: object, why: str) -> None:
    assert why in problems(hooks(value))


@pytest.mark.parametrize(
    "text", ["", "[", "[1]", '{"hooks": 3}', '{"hooks": {"Stop": [3, {"hooks": 3}]}}', "[" * 9_000]
)
def test_a_file_of_another_form_is_told_of_once_and_by_the_surface(text: str) -> None:
    assert list(hook_problems(HarnessTree({".codex/hooks.json": text}))) == []
