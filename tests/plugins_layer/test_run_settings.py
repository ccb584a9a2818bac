"""Core's own tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.prices import Price
from harness2_core.plugins.config import Config
from harness2_core.plugins.fields import fields_of
from harness2_core.plugins.run_settings import (
    LibrarySettings,
    PriceSettings,
    RoleSettings,
    RunSettings,
    library_settings,
    prices_of,
    role_settings,
    run_settings,
    substrate_of,
)


def _config(tmp_path: Path, text: str) -> Config:
    (tmp_path / "harness2.toml").write_text(text)
    return Config.load(tmp_path / "harness2.toml", {}, cwd=tmp_path / "deeper")


@pytest.mark.parametrize("cls", [RunSettings, RoleSettings, PriceSettings, LibrarySettings])
def test_every_setting_explains_itself(cls: type) -> None:
    assert [item.name for item in fields_of(cls) if not item.help.endswith(".")] == []


def test_the_runs_directory_lies_beside_the_configuration_unless_said_otherwise(tmp_path: Path) -> None:
    assert run_settings(_config(tmp_path, "")).runs == tmp_path / "runs"
    assert run_settings(_config(tmp_path, "[run]\nruns = '/srv/runs'\n")).runs == Path("/srv/runs")


@pytest.mark.parametrize(
    ("written", "amount"), [("5", "5"), ("2.50", "2.5"), ("'0.10'", "0.1"), ("0", "0"), ("1e3", "1000")]
)
def test_an_amount_is_a_number_or_a_text_and_one_decimal(tmp_path: Path, written: str, amount: str) -> None:
    assert run_settings(_config(tmp_path, f"[run]\nmax_usd = {written}\n")).max_usd == amount


@pytest.mark.parametrize(
    "line",
    [
        "max_usd = -1",
        "max_usd = nan",
        "max_usd = true",
        "max_usd = 'lots'",
        "k = 0",
        "k = 1.5",
        "slots = 0",
        "pool = 'bases'",
        "network = 'hosts:'",
        "network = 'internet'",
        "sandbox = ''",
        "modes = 'parallel'",
        "max_rollout = 3",
    ],
)
def test_a_wrong_value_names_the_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match=r"harness2\.toml:2: ") as caught:
        run_settings(_config(tmp_path, f"[run]\n{line}\n"))
    assert caught.value.remedy


def test_every_role_is_bound_and_gives_its_channel(tmp_path: Path) -> None:
    text = "[roles.executor]\nmodel = 'm'\nsteps = 4\n[roles.executor.options]\ntemperature = '0'\n"
    roles = role_settings(_config(tmp_path, text))
    assert (roles["executor"].channel.model, roles["executor"].channel.steps) == ("m", 4)
    assert dict(roles["executor"].channel.options) == {"temperature": "0"}
    assert roles["judge"] == RoleSettings()


def test_a_role_that_does_not_exist_is_an_error_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"harness2\.toml:2") as caught:
        role_settings(_config(tmp_path, "[roles.exectuor]\nmodel = 'm'\n"))
    assert "'executor'" in caught.value.remedy


def test_the_library_shows_twenty_whole_harnesses_unless_said_otherwise(tmp_path: Path) -> None:
    assert library_settings(_config(tmp_path, "")).max_harnesses == 20


def test_a_model_has_slots_of_its_own(tmp_path: Path) -> None:
    settings = run_settings(_config(tmp_path, "[run.model_slots]\n'large-1' = '2'\n"))
    assert dict(settings.model_slots) == {"large-1": "2"}


def test_slots_of_a_model_are_whole_numbers(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'large-1'") as caught:
        run_settings(_config(tmp_path, "[run.model_slots]\n'large-1' = 'many'\n"))
    assert "whole numbers" in str(caught.value)


SHARED = """
[roles.improver]
provider = "scripted"
model = "m1"
effort = "high"
limit_seconds = 60
[roles.improver.options]
url = "http://127.0.0.1:1/v1"
key_variable = "K"
"""


def test_what_is_not_said_of_selector_and_reflector_is_as_with_the_improver(tmp_path: Path) -> None:
    more = '[roles.selector]\nmodel = "m2"\n[roles.selector.options]\nkey_variable = "L"\n'
    roles = role_settings(_config(tmp_path, SHARED + more))
    assert roles["reflector"] == roles["improver"]
    assert roles["selector"] == evolve(
        roles["improver"], model="m2", options=FrozenMap({"url": "http://127.0.0.1:1/v1", "key_variable": "L"})
    )


def test_a_role_with_another_provider_takes_nothing_from_the_improver(tmp_path: Path) -> None:
    roles = role_settings(_config(tmp_path, SHARED + '[roles.selector]\nprovider = "other"\nsteps = 3\n'))
    assert roles["selector"] == RoleSettings(provider="other", steps=3)


def test_the_substrate_may_be_named_as_the_executors_provider(tmp_path: Path) -> None:
    def named(text: str) -> str:
        config = _config(tmp_path, text)
        return substrate_of(run_settings(config), role_settings(config))

    assert named("") == ""
    assert named('[roles.executor]\nprovider = "x"\n') == "x"
    assert named('[run]\nsubstrate = "y"\n[roles.executor]\nprovider = "x"\n') == "y"


def test_prices_are_stated_a_model_and_what_is_not_stated_follows(tmp_path: Path) -> None:
    text = '[prices."m-1.5"]\ninput = 3\noutput = "15.50"\n[prices.m2]\ninput = 0\noutput = 0\ncache_read = 0.5\n'
    prices = prices_of(_config(tmp_path, text))
    assert prices["m-1.5"] == Price("3", "15.5", "3", "3", "15.5")
    assert prices["m2"] == Price("0", "0", "0.5", "0", "0")


@pytest.mark.parametrize("text", ["input = 3\n", "input = -1\noutput = 1\n", "input = 1\noutput = 1\ncached = 2\n"])
def test_a_price_that_is_half_stated_negative_or_of_another_kind_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        prices_of(_config(tmp_path, f"[prices.m]\n{text}"))
