"""What a run took: tokens of each kind, of the agent and its sub-agents, and their price.

The stream tells the sum of a turn when it ends, for the agent alone; the log tells each answer of every conversation,
and its model. Of the agent the stream's word counts, when it came; of sub-agents, and of a cut turn, the log's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen
from harness2_agents.prices import CACHE_READ, CACHE_WRITE, INPUT, OUTPUT, REASONING, priced, summed
from harness2_agents.stream import Json, count_at

from harness2_core.api import Usage

_KINDS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)


def counts_in(usage: Mapping[str, Json]) -> Mapping[str, int]:
    """Tokens as the stream counts them; a kind that is missing counts as none."""
    return {kind: count_at(usage, kind) for kind in _KINDS}


@frozen
class Spent:
    """Grows while a stream is read."""

    turns: dict[str, Counter[str]] = field(factory=dict, init=False)
    """Conversation -> what its turns took, by the stream."""
    answers: dict[str, Counter[str]] = field(factory=dict, init=False)
    """Conversation -> what its answers took, by the log."""
    models: dict[str, str] = field(factory=dict, init=False)
    requests: Counter[str] = field(factory=Counter, init=False)

    def turn(self, conversation: str, counts: Mapping[str, int]) -> None:
        self.turns.setdefault(conversation, Counter()).update(counts)

    def answered(self, conversation: str, model: str, counts: Mapping[str, int]) -> None:
        self.answers.setdefault(conversation, Counter()).update(counts)
        self.models.setdefault(conversation, model)
        self.requests[conversation] += 1

    def usage(self) -> Usage:
        """Its `usd` is unknown as soon as one conversation's is; nothing counted is nothing known."""
        return summed(
            priced(self.models.get(name, ""), disjoint(counts), self.requests[name] or 1)
            for name, counts in {**self.answers, **self.turns}.items()
        )


def disjoint(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Kinds that do not overlap: Codex counts what was cached as input too, and reasoning as output too."""
    cached, written = counts.get("cached_input_tokens", 0), counts.get("cache_write_input_tokens", 0)
    reasoning = counts.get("reasoning_output_tokens", 0)
    return {
        INPUT: max(0, counts.get("input_tokens", 0) - cached - written),
        CACHE_READ: cached,
        CACHE_WRITE: written,
        OUTPUT: max(0, counts.get("output_tokens", 0) - reasoning),
        REASONING: reasoning,
    }
