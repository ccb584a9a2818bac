from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.channel import NO_MODEL, Channel, Usage, total_usage
from harness2_core.model.check import decimal_text
from harness2_core.model.errors import InvalidValue

AMOUNTS = st.decimals(0, 1_000, places=6).map(decimal_text)
SOURCES = st.sampled_from(["stream", "gateway", "price list", "none", "unknown"])
USAGES = st.builds(
    Usage,
    st.none() | AMOUNTS,
    st.dictionaries(st.sampled_from(["input", "output", "cached"]), st.integers(0, 10**9)),
    st.integers(0, 10**9),
    SOURCES,
)


@given(st.lists(USAGES, min_size=1), st.randoms(use_true_random=False))
def test_a_sum_does_not_depend_on_the_order(parts: list[Usage], random: object) -> None:
    assert total_usage(reversed(parts)) == total_usage(parts)


@given(st.lists(USAGES, min_size=1), st.lists(USAGES, min_size=1))
def test_sums_may_be_summed(one: list[Usage], other: list[Usage]) -> None:
    assert total_usage([total_usage(one), total_usage(other)]) == total_usage([*one, *other])


@given(st.lists(USAGES, min_size=1))
def test_one_unknown_price_makes_the_sum_unknown_and_never_zero(parts: list[Usage]) -> None:
    total = total_usage(parts)
    if any(part.usd is None for part in parts):
        assert total.usd is None
    else:
        assert Decimal(total.usd or "") == sum(Decimal(part.usd or "") for part in parts)


def test_cents_add_up_exactly() -> None:
    assert total_usage([Usage("0.1"), Usage("0.2")]).usd == "0.3"


def test_tokens_are_summed_by_kind_and_times_added() -> None:
    total = total_usage([Usage("1", {"input": 3}, 5, "stream"), Usage("1", {"input": 4, "output": 1}, 6, "gateway")])
    assert total == Usage("2", {"input": 7, "output": 1}, 11, "gateway+stream")


def test_nothing_at_all_cost_nothing() -> None:
    assert total_usage([]) == NO_MODEL == total_usage([NO_MODEL, NO_MODEL])


def test_work_without_a_model_is_no_source_of_a_price() -> None:
    assert total_usage([NO_MODEL, Usage("1", source="stream")]).source == "stream"


def test_an_unknown_price_is_not_a_price_of_nothing() -> None:
    assert Usage().usd is None
    assert Usage() != Usage("0")


@pytest.mark.parametrize(
    "arguments", [{"usd": "1e3"}, {"usd": "0.10"}, {"usd": 1}, {"elapsed_ms": -1}, {"elapsed_ms": 1.5}]
)
def test_a_usage_holds_decimal_strings_and_whole_milliseconds(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidValue, match=r"Usage\."):
        Usage(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{"steps": -1}, {"limit_seconds": 0}, {"limit_seconds": True}])
def test_a_channel_has_sensible_limits(arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidValue, match=r"Channel\."):
        Channel(**arguments)  # type: ignore[arg-type]


def test_channels_with_the_same_options_are_equal_and_hash_alike() -> None:
    one, other = Channel("m", options={"a": "1", "b": "2"}), Channel("m", options={"b": "2", "a": "1"})
    assert one == other
    assert hash(one) == hash(other)
