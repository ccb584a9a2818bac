"""What tokens cost by the price list that comes with genai-prices: data of the package, no network.

Kinds of tokens are disjoint: `input` excludes what was read from or written to a cache, `output` excludes `reasoning`.
Agents that count otherwise are put right by their substrate. Unknown stays unknown: a model that is on no list has no
price, and is not free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from harness2_core.api import Usage, decimal_text

INPUT: Final = "input"
OUTPUT: Final = "output"
CACHE_READ: Final = "cache_read"
CACHE_WRITE: Final = "cache_write"
REASONING: Final = "reasoning"
KINDS: Final = (INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, REASONING)

SOURCE: Final = "price list"


def priced(model: str, tokens: Mapping[str, int], requests: int = 1) -> Usage:
    """The usage of so many tokens; `usd` is `None` for a model without a known price, or when nothing was counted.

    `tokens` may be a sum over several requests: say how many. Prices that rise with the size of a request are then
    taken at the mean size, not at that of the sum, which no request had.
    """
    counted = {kind: tokens.get(kind, 0) for kind in KINDS if tokens.get(kind, 0) > 0}
    usd = _usd(model, counted, max(1, requests)) if counted else None
    return Usage(usd, counted, source=SOURCE) if usd is not None else Usage(None, counted)


def is_priced(model: str) -> bool:
    """Whether `priced` knows a price for this model."""
    return _usd(model, {INPUT: 1000, OUTPUT: 1000}, 1) is not None


def usage_in(model: str, tokens: Mapping[str, int], usd: str | None, requests: int = 1) -> Usage:
    """The usage that an agent's stream tells: its own amount where there is one, else by the price list."""
    if usd is None:
        return priced(model, tokens, requests)
    return Usage(usd, {kind: count for kind, count in tokens.items() if count > 0}, source="stream")


def summed(parts: Iterable[Usage]) -> Usage:
    """Usages of disjoint parts of a run as one; its `usd` is unknown as soon as one part's is, or without any part."""
    parts = tuple(parts)
    tokens: Counter[str] = Counter()
    for part in parts:
        tokens.update(part.tokens)
    known = [Decimal(part.usd) for part in parts if part.usd is not None]
    if not parts or len(known) < len(parts):
        return Usage(None, dict(tokens))
    return Usage(decimal_text(sum(known, Decimal(0))), dict(tokens), source=parts[0].source)


def _usd(model: str, tokens: Mapping[str, int], requests: int) -> str | None:
    from genai_prices import Usage as Tokens  # a quarter of a second, for those who need a price
    from genai_prices import calc_price

    mean = {kind: round(count / requests) for kind, count in tokens.items()}
    cached = {"cache_read_tokens": mean.get(CACHE_READ, 0), "cache_write_tokens": mean.get(CACHE_WRITE, 0)}
    usage = Tokens(
        input_tokens=mean.get(INPUT, 0) + sum(cached.values()),
        output_tokens=mean.get(OUTPUT, 0) + mean.get(REASONING, 0),
        **cached,
    )
    for name, provider in _names(model):
        try:
            found = calc_price(usage, name, provider_id=provider)
        except (LookupError, ValueError):
            continue
        return decimal_text(f"{found.total_price * requests:f}")
    return None


def _names(model: str) -> tuple[tuple[str, str | None], ...]:
    """A model as lists may have it: `anthropic/claude-x` is a model of a provider, and also a router's own name."""
    provider, slash, name = model.partition("/")
    return ((name, provider.lower()), (model, None)) if slash else ((model, None),)
