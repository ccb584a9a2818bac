"""The hooks of this distribution."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Substrate, hookimpl


@hookimpl
def harness2_substrates() -> Sequence[Provider[Substrate]]:
    return [
        Provider(
            "codex",
            "Codex: AGENTS.md, skills, scripts and hooks are the harness of OpenAI's agent CLI",
            "harness2_codex.substrate:Codex",
            "harness2_codex.settings:CodexSettings",
        )
    ]
