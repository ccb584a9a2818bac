"""The surface of Codex: which files of a harness may be edited, and which hooks Codex would ignore without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from harness2_core.api import Allowed, HarnessTree, Surface

ALWAYS_ON: Final = "AGENTS.md"
HOOKS: Final = ".codex/hooks.json"
SKILLS: Final = ".agents/skills"

SURFACE: Final = Surface(
    name="codex",
    always_on=(ALWAYS_ON,),
    cap_chars=8_000,
    allowed=(
        Allowed(
            "skill",
            f"{SKILLS}/<name>/SKILL.md",
            "a procedure: front matter with `description`, then what to do",
            "name and description always, the rest when the agent reads it",
        ),
        Allowed("script", f"{SKILLS}/<name>/scripts/<script>.py", "a program of a skill", "none until it is run"),
        Allowed("skill-file", f"{SKILLS}/<name>/scripts/<file>", "another file that a skill runs", "none until used"),
        Allowed("skill-file", f"{SKILLS}/<name>/references/<file>", "what a skill refers to", "when it is read"),
        Allowed("skill-file", f"{SKILLS}/<name>/assets/<file>", "a template or data of a skill", "when it is read"),
        Allowed("script", "scripts/<script>.py", "a program the agent runs from the workspace", "none until it is run"),
        Allowed(
            "sub-agent",
            "sub_agents/<name>/AGENT.md",
            "a role for `spawn_agent`: front matter with `name` and `description`, then its instructions; it reads "
            "AGENTS.md too, which must say when to start one",
            "name and description always",
        ),
        Allowed("hooks", HOOKS, "commands that Codex runs at events; exit code 2 blocks a tool", "what they print"),
    ),
    required=(ALWAYS_ON,),
    trigger_file=ALWAYS_ON,
    sub_agent_name="required",
    sub_agent_fields=("name", "description"),
    hook_events=(
        "PreToolUse",
        "PostToolUse",
        "PermissionRequest",
        "PreCompact",
        "PostCompact",
        "SessionStart",
        "SubagentStart",
        "SubagentStop",
        "UserPromptSubmit",
        "Stop",
    ),
)


def hook_problems(tree: HarnessTree) -> Iterator[str]:
    """What is well-formed for the surface and yet makes Codex pass over a hook, or over the whole file."""
    for event, entries in _hooks(tree).items():
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            if not _compiles(entry.get("matcher", "")):
                yield f"{HOOKS}: {event}[{index}]: its matcher is no regular expression, so its hooks would never run"
            commands = entry.get("hooks")
            for command in commands if isinstance(commands, list) else ():
                seconds = command.get("timeout", 1) if isinstance(command, dict) else 1
                if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds < 1:
                    yield f"{HOOKS}: {event}[{index}]: 'timeout' must be a whole number of seconds, without quotes"


def _hooks(tree: HarnessTree) -> dict[str, object]:
    """Empty unless the file has the form that the surface asks for, and tells of itself."""
    try:
        value = json.loads(tree.files.get(HOOKS, "{}"))
    except (ValueError, RecursionError):
        return {}
    hooks = value.get("hooks") if isinstance(value, dict) else None
    return hooks if isinstance(hooks, dict) else {}


def _compiles(matcher: object) -> bool:
    try:
        return isinstance(matcher, str) and bool(re.compile(matcher))
    except (re.error, RecursionError, OverflowError):
        return False
