"""What the substrate can be told in `harness2.toml`, table `[substrates.codex]`."""

from __future__ import annotations

from attrs import frozen

from harness2_core.api import InvalidValue, place


@frozen
class CodexSettings:
    binary: str = place(default="")
    """The program, or the directory in which npm installed it; by default what `harness2 setup codex` brought."""
    sub_agents: bool = True
    """Whether the agent may start others of its kind when its harness says so; what they use is counted."""
    context_tokens: int = 0
    """Size of the context of a model that Codex does not know, in tokens; 0 leaves Codex to its guess."""

    def __attrs_post_init__(self) -> None:
        if self.context_tokens < 0:
            raise InvalidValue(f"context_tokens is {self.context_tokens}", "give the codex substrate 0 or more tokens")
