"""The hooks of this distribution."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Substrate, hookimpl


@hookimpl
def harness2_substrates() -> Sequence[Provider[Substrate]]:
    return [
        Provider(
            "opencode",
            "OpenCode: prompt, skills, sub-agents, scripts and plugins are the harness of the agent CLI",
            "harness2_opencode.substrate:Opencode",
            "harness2_opencode.settings:OpencodeSettings",
        )
    ]
