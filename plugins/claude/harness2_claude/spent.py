"""What a run took: tokens of each kind, of the agent and its sub-agents, and their price.

The last line of a stream tells tokens and an amount by model, sub-agents included. A stream that was cut before tells
of answers only what is known when they begin: their input, and hardly any output. That is counted once a message, and
said to be the least.

For a model that it does not know Claude Code takes the price of one it does: that amount is a guess, and not used.
`KNOWN` are the models for which it has a price of its own, as tried with the pinned version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from attrs import define, field
from harness2_agents.prices import CACHE_READ, CACHE_WRITE, INPUT, OUTPUT, is_priced, priced, summed
from harness2_agents.stream import Json, count_at, object_at, text_at, value_at

from harness2_core.api import Usage, decimal_text

KNOWN: Final = re.compile(
    r"claude-(?:(?:fable|mythos|sonnet)-5"
    r"|opus-4(?:[-.][01245678])?"
    r"|sonnet-4(?:[-.][0456])?"
    r"|haiku-4[-.]5"
    r"|3[-.][57]-sonnet"
    r"|3[-.]5-haiku)"
    r"(?![-.]?\d{1,3}(?!\d))"  # a date may follow, another version not
)
_MESSAGE: Final = {
    INPUT: "input_tokens",
    OUTPUT: "output_tokens",
    CACHE_READ: "cache_read_input_tokens",
    CACHE_WRITE: "cache_creation_input_tokens",
}
_MODEL: Final = {
    INPUT: "inputTokens",
    OUTPUT: "outputTokens",
    CACHE_READ: "cacheReadInputTokens",
    CACHE_WRITE: "cacheCreationInputTokens",
}
_PLACES: Final = 12
"""Of an amount in USD: the sums of Claude Code have the noise of binary fractions beyond."""
_LONG: Final = "[1m]"
"""At the end of a model's name: the same model, asked with a longer context."""


def knows_price(model: str) -> bool:
    return bool(KNOWN.search(model)) or is_priced(model)


@define
class Spent:
    """Grows while a stream is read."""

    _messages: dict[str, tuple[str, Mapping[str, int]]] = field(factory=dict)
    """Message -> model and tokens: a message comes in as many lines as it has parts, and each tells them all."""
    _by_model: dict[str, Counter[str]] | None = None
    _usd: Decimal | None = None
    _result: Mapping[str, int] = field(factory=dict)
    _free: bool = False
    """Whether nothing was asked, or all that was asked was refused with a status: nobody asks money for that."""

    @property
    def told(self) -> bool:
        """Whether the stream came to tell the whole."""
        return self._by_model is not None

    def message(self, message: Mapping[str, Json]) -> None:
        usage = object_at(message, "usage")
        if usage:
            self._messages[text_at(message, "id")] = (text_at(message, "model"), _counts(usage, _MESSAGE))

    def result(self, result: Mapping[str, Json]) -> None:
        """The last one counts: each tells of the whole conversation."""
        self._by_model = {}
        for name, usage in object_at(result, "modelUsage").items():
            counted = self._by_model.setdefault(name.removesuffix(_LONG), Counter())
            counted.update(_counts(usage, _MODEL))
        self._result = _counts(object_at(result, "usage"), _MESSAGE)
        self._usd = _amount(value_at(result, "total_cost_usd"))
        self._free = result.get("is_error") is False or count_at(result, "api_error_status") > 0

    def usage(self) -> Usage:
        """Its `usd` is unknown as soon as that of one model is."""
        by_model = {name: counts for name, counts in self._models().items() if counts.total()}
        if self._usd is not None and by_model and all(KNOWN.search(name) for name in by_model):
            return Usage(decimal_text(self._usd), _nonzero(_sum(by_model.values())), source="stream")
        if not by_model and self._free:
            return Usage("0", source="stream")
        return summed(priced(name, counts, self._requests(name)) for name, counts in by_model.items())

    def _models(self) -> Mapping[str, Counter[str]]:
        if self._by_model:
            return self._by_model
        if any(self._result.values()):  # of a version that tells no models
            return {next((model for model, _ in self._messages.values()), ""): Counter(self._result)}
        found: dict[str, Counter[str]] = {}
        for model, counts in self._messages.values():
            found.setdefault(model, Counter()).update(counts)
        return found

    def _requests(self, model: str) -> int:
        return sum(name == model for name, _ in self._messages.values()) or 1


def _counts(usage: Json, names: Mapping[str, str]) -> Mapping[str, int]:
    return {kind: count_at(usage, name) for kind, name in names.items()}


def _sum(parts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total


def _nonzero(counts: Counter[str]) -> Mapping[str, int]:
    return {kind: count for kind, count in counts.items() if count}


def _amount(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return round(Decimal(str(value)), _PLACES)
