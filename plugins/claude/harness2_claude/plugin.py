"""The hooks of this distribution."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Substrate, hookimpl


@hookimpl
def harness2_substrates() -> Sequence[Provider[Substrate]]:
    return [
        Provider(
            "claude",
            "Claude Code: CLAUDE.md, skills, sub-agents, scripts and hooks are the harness of Anthropic's agent CLI",
            "harness2_claude.substrate:Claude",
            "harness2_claude.settings:ClaudeSettings",
        )
    ]
