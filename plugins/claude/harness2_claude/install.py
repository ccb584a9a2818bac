"""From a tree to what Claude Code loads: pure, and apart from whatever a task brings.

All that the CLI loads lies in its configuration directory, which is in the private home, and nothing else is loaded:
with `--setting-sources user` a CLAUDE.md, settings, skills, sub-agents and servers of the task's own are files like any
other. What the harness names by path, skills and scripts, lies at those paths in the workspace too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness2_agents.programs import Program

from harness2_core.api import Channel, ConfigError, Endpoint, FrozenMap, HarnessTree, Install, Place

from .environment import environment
from .settings import ClaudeSettings
from .surface import AGENTS, ALWAYS_ON, ROOT, SETTINGS, SKILLS

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
TOOLS: Final = (
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
"""Those of use to one run without a person: no schedules, worktrees, messages to others."""
WEB_TOOLS: Final = ("WebFetch", "WebSearch")


def installed(
    program: Program,
    tree: HarnessTree,
    prompt: str,
    channel: Channel,
    place: Place,
    endpoint: Endpoint,
    settings: ClaudeSettings,
    *,
    root: bool,
) -> Install:
    """`root`: whether the agent runs as root. Raises `ConfigError` for a channel that the CLI could not honour."""
    _check(channel)
    return Install(
        files=FrozenMap({path: text.encode() for path, text in tree.files.items() if _is_named_by_path(path)}),
        home=FrozenMap({_at_home(path): text.encode() for path, text in tree.files.items() if _is_loaded(path)}),
        argv=(str(program.path), *_argv(channel, place, settings, free=place.sandboxed or not root)),
        env=FrozenMap(environment(channel, place, endpoint, settings.of(channel))),
        reads=program.reads,
        stdin=_said(prompt).encode(),
    )


def _argv(channel: Channel, place: Place, settings: ClaudeSettings, *, free: bool) -> Iterator[str]:
    tools = ",".join((*TOOLS, *(WEB_TOOLS if settings.web and place.network == "open" else ())))
    yield from ("--print", "--output-format", "stream-json", "--verbose")
    yield from ("--setting-sources", "user", "--strict-mcp-config")
    yield from ("--model", channel.model)
    if channel.effort:
        yield from ("--effort", channel.effort)
    if channel.steps:
        yield from ("--max-turns", str(channel.steps))
    yield from ("--tools", tools)
    if free:
        yield from ("--permission-mode", "bypassPermissions")
    else:  # refused to root outside a sandbox
        yield from ("--permission-mode", "acceptEdits", "--allowedTools", tools)


def _said(prompt: str) -> str:
    """By standard input, for an argument has at most 128 KiB; a slash at the beginning would make it a command."""
    return f"\n{prompt}" if prompt.startswith("/") else prompt


def _is_named_by_path(path: str) -> bool:
    return path.startswith((f"{SKILLS}/", "scripts/"))


def _is_loaded(path: str) -> bool:
    return path in (ALWAYS_ON, SETTINGS) or path.startswith((f"{SKILLS}/", f"{AGENTS}/"))


def _at_home(path: str) -> str:
    return f"{ROOT}/{ALWAYS_ON}" if path == ALWAYS_ON else path


def _check(channel: Channel) -> None:
    if not channel.model:
        raise ConfigError("claude is to run without a model", "name one: `--model`, or `model` of the role's channel")
    if channel.effort and channel.effort not in EFFORTS:
        raise ConfigError(
            f"claude knows no effort {channel.effort!r}, and would go on without one", f"use {', '.join(EFFORTS)}"
        )
