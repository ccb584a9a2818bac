"""Stated prices reach every record, of every role, and make limits in USD hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from harness2_core.model.errors import ConfigError

COUNTS = """
    from harness2_core.api import Allowed, Lost, Observation, Surface, Trajectory, Usage

    losses = []

    class Made:
        surface = Surface("counts", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def knows_price(self, channel):
            return False

        def run(self, tree, prompt, channel, workspace, ctx):
            usage = Usage("9", {"input": 1_000_000, "output": 100_000}, source="stream")
            if losses:
                raise Lost(losses.pop(), "not now", usage=usage)
            (workspace / "output").mkdir(exist_ok=True)
            (workspace / "output" / "sum.txt").write_text("7")
            return Trajectory((Observation("summed"),), usage)
"""
PRICES = {"prices.m.input": "0.1", "prices.m.output": "1", "roles.executor.model": "m"}


@pytest.fixture
def counting(bench: Any) -> Any:
    """Rollouts count tokens for 0.2 USD at the prices above; without them they say 9 USD."""
    bench.plugin("substrate", "counts", COUNTS, token="co")
    bench.set(substrate="counts")
    return bench


def paid(result: Any) -> Decimal:
    return Decimal(result.paid.usage["executor"].usd)


def test_a_stated_price_is_what_rollouts_cost(counting: Any) -> None:
    result = counting.run(**PRICES)
    assert paid(result) == Decimal("0.2") * result.paid.rollouts
    assert result.paid.usage["executor"].source == "prices of harness2.toml"


def test_a_lost_attempt_costs_the_stated_price_too(counting: Any) -> None:
    source = COUNTS.replace("losses = []", "losses = ['network']")
    counting.plugin("substrate", "loses", source, token="lo")
    result = counting.run(substrate="loses", **PRICES)
    assert result.paid.lost == 1
    assert paid(result) == Decimal("0.2") * (result.paid.rollouts + 1)


def test_a_price_of_another_model_changes_nothing(counting: Any) -> None:
    result = counting.run(**{**PRICES, "roles.executor.model": "n"})
    assert paid(result) == 9 * result.paid.rollouts


def test_prices_are_no_part_of_any_identity(counting: Any) -> None:
    counting.run(**PRICES)
    assert counting.run(**{**PRICES, "prices.m.input": "7"}).paid.nothing


def test_a_limit_in_usd_holds_by_stated_prices(counting: Any) -> None:
    with pytest.raises(ConfigError, match="executor"):
        counting.run(max_usd="5", **{"roles.executor.model": "m"})
    assert counting.run(max_usd="5", **PRICES).exit_code == 0


def test_a_price_that_no_role_uses_is_told(counting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    counting.set(**{"roles.executor.model": "model-one", "prices.model-onw.input": "1", "prices.model-onw.output": "1"})
    assert counting.command("check") == 0
    assert "[prices.model-onw] is used by no role; did you mean 'model-one'?" in capsys.readouterr().out


def test_a_limit_of_a_model_that_no_role_uses_is_told(counting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    counting.set(**{"roles.executor.model": "model-one", "run.model_slots.model-onw": "2"})
    assert counting.command("check") == 0
    assert "[run.model_slots] model-onw is used by no role; did you mean 'model-one'?" in capsys.readouterr().out


def test_a_price_that_is_half_stated_is_a_problem(counting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    counting.set(**{"roles.executor.model": "m", "prices.m.input": "1"})
    assert counting.command("check") == 1
    assert "output" in capsys.readouterr().out
