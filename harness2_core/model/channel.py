"""Channels, usage and outcomes: what work is bound to, what it cost, how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from enum import Enum

from attrs import field, frozen

from .check import Field, a_decimal, at_least, decimal_text, optional
from .errors import InvalidValue
from .frozen import FrozenMap, counts, texts


@frozen
class Channel:
    """Model, effort, steps and time limit of one role. Part of every request's identity."""

    model: str = ""
    effort: str = ""
    steps: int = field(default=0, validator=at_least(0))
    """At most so many model turns; 0 leaves it to the agent."""
    limit_seconds: int = field(default=3600, validator=at_least(1))
    options: FrozenMap[str] = field(converter=texts, factory=FrozenMap)


@frozen
class Usage:
    """What one execution took. `usd` is a decimal string, `None` when unknown: unknown is never zero."""

    usd: str | None = field(default=None, validator=optional(a_decimal))
    tokens: FrozenMap[int] = field(converter=counts, factory=FrozenMap)
    elapsed_ms: int = field(default=0, validator=at_least(0))
    source: str = "unknown"
    """Where `usd` comes from: `stream`, `gateway`, `price list`, `none` (no model took part), `unknown`."""


NO_MODEL = Usage(usd="0", source="none")
"""The usage of work in which no model took part."""


def total_usage(parts: Iterable[Usage]) -> Usage:
    """The sum; its `usd` is unknown as soon as one part's is."""
    listed = tuple(parts)
    if not listed:
        return NO_MODEL
    tokens: dict[str, int] = {}
    for part in listed:
        for kind, count in part.tokens.items():
            tokens[kind] = tokens.get(kind, 0) + count
    known = [Decimal(part.usd) for part in listed if part.usd is not None]
    sources = {source for part in listed for source in part.source.split("+")}
    named = sorted(sources - {NO_MODEL.source}) or [NO_MODEL.source]
    return Usage(
        usd=decimal_text(sum(known, Decimal(0))) if len(known) == len(listed) else None,
        tokens=tokens,
        elapsed_ms=sum(part.elapsed_ms for part in listed),
        source="+".join(named),
    )


class Outcome(Enum):
    """How an execution ended. All but `LOST` are final for rollouts; `LOST` is repeated by the policy table."""

    FINISHED = "finished"
    TIMED_OUT = "timed-out"
    OUT_OF_STEPS = "out-of-steps"
    """Stopped at a limit of its own: of turns, or of what it may spend."""
    REFUSED = "refused"
    CRASHED = "crashed"
    LOST = "lost"


def _not_lost(owner: object, field: Field, value: Outcome) -> None:
    if value is Outcome.LOST:
        raise InvalidValue("an ending is no loss", "raise or return `Lost`, which has a cause")


@frozen
class Ending:
    """How an agent ended, with a note for people."""

    outcome: Outcome = field(validator=_not_lost)
    note: str = ""
