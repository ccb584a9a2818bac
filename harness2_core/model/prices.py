"""Prices of models, as a person states them: USD for a million tokens, by kind of token.

Kinds are disjoint: `input` is what was neither read from nor written to a cache, `output` is without `reasoning`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from attrs import evolve, field, frozen

from .channel import Usage
from .check import a_decimal, decimal_text

TOKENS: Final = ("input", "output", "cache_read", "cache_write", "reasoning")
"""Kinds of tokens that have a price, as `Usage.tokens` names them."""

STATED: Final = "prices of harness2.toml"
"""`Usage.source` of an amount that was reckoned by a stated price."""


@frozen
class Price:
    """Decimal texts, each for a million tokens."""

    input: str = field(validator=a_decimal)
    output: str = field(validator=a_decimal)
    cache_read: str = field(validator=a_decimal)
    cache_write: str = field(validator=a_decimal)
    reasoning: str = field(validator=a_decimal)

    def of(self, usage: Usage) -> Usage:
        """`usage` at this price, whatever it said itself; as it is when it counted no tokens that have one."""
        counted = {kind: count for kind, count in usage.tokens.items() if kind in TOKENS}
        if not counted:
            return usage
        usd = sum((Decimal(getattr(self, kind)) * count for kind, count in counted.items()), Decimal(0)) / 1_000_000
        return evolve(usage, usd=decimal_text(usd), source=STATED)
