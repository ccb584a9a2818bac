"""Prices: by the list that is installed, and never by the network."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest
from harness2_agents.prices import KINDS, is_priced, priced, summed, usage_in
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Usage

MODEL = "claude-sonnet-4-5"
TIERED = "gemini-2.5-pro"


def usd(model: str, tokens: dict[str, int], requests: int = 1) -> Decimal:
    found = priced(model, tokens, requests).usd
    assert found is not None
    return Decimal(found)


def test_tokens_of_every_kind_have_a_price() -> None:
    each = {kind: usd(MODEL, {kind: 1000}) for kind in KINDS}
    assert all(amount > 0 for amount in each.values())
    assert each["cache_read"] < each["input"] < each["cache_write"] < each["output"] == each["reasoning"]
    assert usd(MODEL, dict.fromkeys(KINDS, 1000)) == sum(each.values())


def test_the_source_is_told() -> None:
    assert priced(MODEL, {"input": 10}).source == "price list"


@pytest.mark.parametrize("model", ["no-such-model-1", "", "no/such/model", "claude-no-such-99", "local/claude-x"])
def test_the_price_of_an_unknown_model_is_unknown_and_not_zero(model: str) -> None:
    usage = priced(model, {"input": 10, "output": 2})
    assert (usage.usd, usage.source, dict(usage.tokens)) == (None, "unknown", {"input": 10, "output": 2})
    assert not is_priced(model)


def test_a_model_may_be_named_with_its_provider() -> None:
    assert usd(f"anthropic/{MODEL}", {"input": 1000}) == usd(MODEL, {"input": 1000})


def test_where_nothing_was_counted_the_price_is_unknown() -> None:
    assert priced(MODEL, {}).usd is None
    assert priced(MODEL, {"input": 0}).usd is None


def test_prices_that_rise_with_the_request_are_taken_at_the_size_that_requests_had() -> None:
    tokens = {"input": 2_000_000, "output": 40_000}
    assert usd(TIERED, tokens, requests=40) < usd(TIERED, tokens)
    assert usd(TIERED, tokens, requests=40) == 40 * usd(TIERED, {"input": 50_000, "output": 1000})


def test_what_the_agent_says_itself_goes_before_the_list() -> None:
    usage = usage_in(MODEL, {"input": 10, "output": 0}, "0.5")
    assert (usage.usd, usage.source, dict(usage.tokens)) == ("0.5", "stream", {"input": 10})
    assert usage_in(MODEL, {"input": 10}, None) == priced(MODEL, {"input": 10})


@given(st.dictionaries(st.sampled_from([*KINDS, "other"]), st.integers(0, 10**9)), st.integers(0, 1000))
def test_any_counts_can_be_priced(tokens: dict[str, int], requests: int) -> None:
    usage = priced(MODEL, tokens, requests)
    assert usage.usd is None or Decimal(usage.usd) >= 0


@pytest.mark.process
def test_pricing_reaches_for_no_network() -> None:
    """In a process of its own, in which any socket is an error."""
    program = (
        "import socket, threading\n"
        "def no(*a, **k): raise SystemExit('a socket was asked for')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = no\n"
        "from harness2_agents.prices import priced\n"
        f"assert priced({MODEL!r}, {{'input': 1}}).usd\n"
        "priced('no-such-model', {'input': 1})\n"
        "assert threading.active_count() == 1, 'something runs in the background'\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_parts_of_a_run_are_summed_exactly() -> None:
    parts = [Usage("0.1", {"input": 1}, source="list"), Usage("0.2", {"input": 2, "output": 3}, source="list")]
    assert summed(parts) == Usage("0.3", {"input": 3, "output": 3}, source="list")


def test_a_sum_is_unknown_as_soon_as_one_part_is_and_its_tokens_are_not() -> None:
    assert summed([Usage("0.1", {"input": 1}), Usage(None, {"input": 2})]) == Usage(None, {"input": 3})
    assert summed([]) == Usage(None)
