"""The surface of OpenCode: which files of a harness may be edited, and what it would misunderstand without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from harness2_core.api import Allowed, HarnessTree, Surface

ALWAYS_ON: Final = (
    "systemprompt.md",
    "guardrails.md",
    "LongTermMEMORY.md",
    "tool_descriptions/tool_guidance.md",
)
BUILT_IN_SKILL: Final = "customize-opencode"
"""OpenCode's own skill, on how to change its configuration: no agent is shown it."""
_BUILT_IN_AGENTS: Final = ("build", "plan", "general", "explore", "compaction", "title", "summary")
_IMPORT: Final = re.compile(
    r"""^[ \t]*(?:import|export)\b(?!\s+type\b)[^'"`;()=]*?\bfrom\s*['"]([^'"\n]+)['"]"""
    r"""|^[ \t]*import\s*['"]([^'"\n]+)['"]"""
    r"""|\b(?:import|require)\s*\(\s*['"]([^'"\n]+)['"]""",
    re.MULTILINE,
)

SURFACE: Final = Surface(
    name="opencode",
    always_on=ALWAYS_ON,
    cap_chars=24_000,
    allowed=(
        Allowed(
            "skill",
            "skills/<name>/SKILL.md",
            "a procedure: front matter with `name` and `description`, then what to do",
            "name and description always, the rest when the agent loads it",
        ),
        Allowed("script", "skills/<name>/scripts/<script>.py", "a program of a skill", "none until it is run"),
        Allowed("skill-file", "skills/<name>/scripts/<file>", "another file that a skill runs", "none until used"),
        Allowed("skill-file", "skills/<name>/references/<file>", "what a skill refers to", "when it is read"),
        Allowed("skill-file", "skills/<name>/assets/<file>", "a template or data of a skill", "when it is read"),
        Allowed(
            "sub-agent",
            "sub_agents/<name>/AGENT.md",
            "an agent that the agent can give a part to: front matter with `description` and `mode: subagent`",
            "name and description always, the rest in its own context when it is used",
        ),
        Allowed("script", "scripts/<script>.py", "a program the agent runs from the workspace", "none until it is run"),
        Allowed(
            "plugin",
            "plugin/<name>.ts",
            "a module of OpenCode with hooks, such as `tool.execute.before`, where throwing blocks a tool; imports "
            "only of `node:` modules and of types",
            "what its hooks add",
        ),
    ),
    required=("systemprompt.md",),
    trigger_file="guardrails.md",
    skill_name="required",
    sub_agent_mode="subagent",
    sub_agent_fields=("description", "mode"),  # others would change the model, the turns or the rights of a run
)


def silent_problems(tree: HarnessTree) -> Iterator[str]:
    """What is well-formed for the surface and would yet be dropped, or take the place of a part of OpenCode."""
    for path, text in tree.files.items():
        name = PurePosixPath(path).parent.name
        match SURFACE.component(path):
            case "skill" if name == BUILT_IN_SKILL:
                yield f"{path}: {name!r} is a skill of OpenCode's own, which agents are not shown; choose another name"
            case "sub-agent" if name in _BUILT_IN_AGENTS:
                yield f"{path}: {name!r} is an agent of OpenCode's own, which this would replace; choose another name"
            case "plugin":
                yield from _plugin(path, text)


def _plugin(path: str, text: str) -> Iterator[str]:
    for found in _IMPORT.findall(text):
        module = "".join(found)
        if not module.startswith(("node:", "./")):
            yield (
                f"{path}: imports {module[:80]!r}, which a run does not have; import 'node:...' modules only, and "
                "types by `import type`"
            )
