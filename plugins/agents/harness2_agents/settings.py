"""What the agent proposer can be told in `harness2.toml`."""

from __future__ import annotations

from attrs import frozen


@frozen
class AgentSettings:
    substrate: str = ""
    """Name or token of the agent that plays the improver; by default the one that is improved."""
