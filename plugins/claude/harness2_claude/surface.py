"""The surface of Claude Code: which files of a harness may be edited, as data.

Front matter may not name a model, an effort, rights, servers or hooks of its own: the channel decides on the first two,
the sandbox on the third, and what runs at events stands in one place, the hooks of `.claude/settings.json`.
"""

from __future__ import annotations

from typing import Final

from harness2_core.api import Allowed, Surface

ALWAYS_ON: Final = "CLAUDE.md"
ROOT: Final = ".claude"
SETTINGS: Final = f"{ROOT}/settings.json"
SKILLS: Final = f"{ROOT}/skills"
AGENTS: Final = f"{ROOT}/agents"

SURFACE: Final = Surface(
    name="claude",
    always_on=(ALWAYS_ON,),
    cap_chars=24_000,
    allowed=(
        Allowed(
            "skill",
            f"{SKILLS}/<name>/SKILL.md",
            "a procedure: front matter with `description`, then what to do",
            "name and description always, the rest when the agent loads it",
        ),
        Allowed("script", f"{SKILLS}/<name>/scripts/<script>.py", "a program of a skill", "none until it is run"),
        Allowed("skill-file", f"{SKILLS}/<name>/scripts/<file>", "another file that a skill runs", "none until used"),
        Allowed("skill-file", f"{SKILLS}/<name>/references/<file>", "what a skill refers to", "when it is read"),
        Allowed("skill-file", f"{SKILLS}/<name>/assets/<file>", "a template or data of a skill", "when it is read"),
        Allowed(
            "sub-agent",
            f"{AGENTS}/<name>.md",
            "a helper with its own context: front matter with `name` and `description`, then its instructions",
            "name and description always, the rest in its own context",
        ),
        Allowed("script", "scripts/<script>.py", "a program the agent runs from the workspace", "none until it is run"),
        Allowed(
            "hooks", SETTINGS, "`hooks` alone: commands run at events; exit code 2 blocks a tool", "what they print"
        ),
    ),
    required=(ALWAYS_ON,),
    trigger_file=ALWAYS_ON,
    skill_fields=(
        "name",
        "description",
        "when_to_use",
        "argument-hint",
        "allowed-tools",
        "context",
        "agent",
        "license",
        "metadata",
        "version",
    ),
    sub_agent_name="required",
    sub_agent_fields=("name", "description", "tools", "disallowedTools", "skills", "maxTurns", "color"),
    hook_events=(
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "Stop",
    ),
)
