"""Options of a channel that several agents take."""

from __future__ import annotations

import pytest
from harness2_agents.options import tokens_in

from harness2_core.api import Channel, ConfigError


def test_an_option_goes_before_the_setting() -> None:
    assert tokens_in(Channel(options={"context_tokens": "32000"}), "context_tokens", 7) == 32000
    assert tokens_in(Channel(), "context_tokens", 7) == 7
    assert tokens_in(Channel(options={"context_tokens": "0"}), "context_tokens", 7) == 0


@pytest.mark.parametrize("given", ["many", "-1", "1.5", "²", "٣", " 1", "9" * 5000])
def test_what_is_no_number_of_tokens_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="'context_tokens'"):
        tokens_in(Channel(options={"context_tokens": given}), "context_tokens", 7)


def test_where_an_agent_takes_no_nought_it_is_refused() -> None:
    with pytest.raises(ConfigError, match="'context_tokens'") as raised:
        tokens_in(Channel(options={"context_tokens": "0"}), "context_tokens", 7, least=1)
    assert "1 or more" in raised.value.remedy
