"""What the substrate can be told in `harness2.toml`, table `[substrates.claude]`.

What depends on the model can also be an option of a role's channel, under the same name, and counts there first.
"""

from __future__ import annotations

from attrs import evolve, frozen
from harness2_agents.options import tokens_in

from harness2_core.api import Channel, InvalidValue, place


@frozen
class ClaudeSettings:
    binary: str = place(default="")
    """The program, or the directory in which npm installed it; by default what `harness2 setup claude` brought."""
    web: bool = False
    """Whether the agent may search and fetch on the web; only where task and configuration grant an open network."""
    retries: int = 4
    """How often Claude Code asks again, within a run, when a request fails; the policy table repeats whole runs."""
    context_tokens: int = 0
    """Size of the model's context; 0 leaves it to Claude Code, which guesses 200,000 for models it does not know."""
    output_tokens: int = 0
    """At most so many tokens in one answer of the model; 0 leaves it to Claude Code."""

    def __attrs_post_init__(self) -> None:
        for name in ("retries", "context_tokens", "output_tokens"):
            if getattr(self, name) < 0:
                raise InvalidValue(f"{name} is {getattr(self, name)}", f"give the claude substrate 0 or more {name}")

    def of(self, channel: Channel) -> ClaudeSettings:
        """With the options of `channel`; `ConfigError` for one that is no number."""
        return evolve(
            self,
            context_tokens=tokens_in(channel, "context_tokens", self.context_tokens),
            output_tokens=tokens_in(channel, "output_tokens", self.output_tokens),
        )
