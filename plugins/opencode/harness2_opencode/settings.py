"""What the substrate can be told in `harness2.toml`, table `[substrates.opencode]`.

What depends on the model can also be an option of a role's channel, under the same name, and counts there first.
"""

from __future__ import annotations

from attrs import frozen

from harness2_core.api import InvalidValue, place


@frozen
class OpencodeSettings:
    binary: str = place(default="")
    """The program, or the directory in which npm installed it; by default what `harness2 setup opencode` brought."""
    ripgrep: str = place(default="")
    """The program `rg`, which OpenCode's skills and searches need; by default the one on PATH."""
    context_tokens: int = 200_000
    """Size of the model's context, in tokens: near it, OpenCode sums up what went before."""
    output_tokens: int = 64_000
    """At most so many tokens in one answer of the model."""

    def __attrs_post_init__(self) -> None:
        for name in ("context_tokens", "output_tokens"):
            if getattr(self, name) < 1:
                raise InvalidValue(f"{name} is {getattr(self, name)}", "give the opencode substrate at least 1 token")
