"""What a run took: tokens of each kind, of the agent and its sub-agents, and their price.

OpenCode counts kinds of tokens that do not overlap: what was cached is no input, reasoning no output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from attrs import define, field
from harness2_agents.prices import CACHE_READ, CACHE_WRITE, INPUT, OUTPUT, REASONING, usage_in
from harness2_agents.stream import Json, count_at, value_at

from harness2_core.api import Usage, decimal_text


@define
class Spent:
    """Grows while a stream is read."""

    model: str = ""
    steps: int = 0
    tokens: Counter[str] = field(factory=Counter)
    usd: Decimal = Decimal(0)

    def step(self, part: Mapping[str, Json]) -> None:
        """One answer of a model that came to its end."""
        self.steps += 1
        self.tokens.update(
            {
                INPUT: count_at(part, "tokens", "input"),
                OUTPUT: count_at(part, "tokens", "output"),
                REASONING: count_at(part, "tokens", "reasoning"),
                CACHE_READ: count_at(part, "tokens", "cache", "read"),
                CACHE_WRITE: count_at(part, "tokens", "cache", "write"),
            }
        )
        self.usd += _amount(value_at(part, "cost"))

    def usage(self) -> Usage:
        """OpenCode says 0 where it knows no price, so that 0 is unknown; then the price list is asked."""
        return usage_in(self.model, self.tokens, decimal_text(self.usd) if self.usd else None, self.steps)


def _amount(value: Json) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        return Decimal(0)
    return Decimal(str(value))
