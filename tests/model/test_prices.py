"""Stated prices."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.channel import Usage
from harness2_core.model.prices import STATED, TOKENS, Price

PRICE = Price(input="3", output="15", cache_read="0.3", cache_write="3.75", reasoning="15")


def test_each_kind_of_token_has_its_price_for_a_million() -> None:
    usage = PRICE.of(Usage(tokens=dict.fromkeys(TOKENS, 1_000_000)))
    assert (usage.usd, usage.source) == ("37.05", STATED)
    assert PRICE.of(Usage(tokens={"cache_read": 1000})).usd == "0.0003"


def test_a_stated_price_goes_before_what_was_said() -> None:
    assert PRICE.of(Usage("9", {"output": 100_000}, 5, "stream")) == Usage("1.5", {"output": 100_000}, 5, STATED)


def test_what_counted_no_tokens_stays_as_it_is() -> None:
    for usage in (Usage(), Usage("0.5", source="stream"), Usage("1", {"images": 2}, source="gateway")):
        assert PRICE.of(usage) == usage


def test_a_model_of_ones_own_may_cost_nothing() -> None:
    assert Price("0", "0", "0", "0", "0").of(Usage(tokens={"input": 5})).usd == "0"


@given(st.dictionaries(st.sampled_from(TOKENS), st.integers(0, 10**12)))
def test_pricing_twice_changes_nothing(tokens: dict[str, int]) -> None:
    usage = PRICE.of(Usage(tokens=tokens))
    assert PRICE.of(usage) == usage
    assert (
        Decimal(usage.usd or 0) == sum(Decimal(getattr(PRICE, kind)) * count for kind, count in tokens.items()) / 10**6
    )
