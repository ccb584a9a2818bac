"""The hooks of this distribution."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Proposer, Provider, hookimpl


@hookimpl
def harness2_proposers() -> Sequence[Provider[Proposer]]:
    return [
        Provider(
            "agent",
            "drives any installed agent as the improver: it edits the harness in a workspace with the evidence",
            "harness2_agents.proposer:AgentProposer",
            "harness2_agents.settings:AgentSettings",
        )
    ]
