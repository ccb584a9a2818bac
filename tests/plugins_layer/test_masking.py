"""What must not be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.plugins.masking import is_secret, masked


@pytest.mark.parametrize("name", ["api_key", "key", "auth-token", "PASSWORD", "client_secret", "Authorization", "keys"])
def test_names_of_secrets_are_known(name: str) -> None:
    assert "canary" not in masked(name, "canary")
    assert "canary" not in masked("options", {name: "canary", "other": "x"})


@pytest.mark.parametrize("name", ["key_variable", "api_key_env", "monkey", "model", "token_count"])
def test_names_that_only_sound_so_are_shown(name: str) -> None:
    assert not is_secret(name)
    assert masked(name, "shown") == '"shown"'


def test_numbers_and_empty_values_are_no_secrets() -> None:
    assert masked("max_tokens", 64000) == "64000"
    assert masked("api_key", "") == '""'
    assert masked("api_key", None) == "(none)"


def test_a_url_keeps_its_host_and_loses_its_credentials() -> None:
    url = "https://user:canary@host.example/v1?api_key=canary&x=1"
    assert masked("url", url) == '"https://(hidden)@host.example/v1?api_key=(hidden)&x=1"'


@given(
    st.text(alphabet=st.characters(exclude_characters="/@?#&= \t\n\r\x0b\x0c"), min_size=8).filter(lambda t: t.strip())
)
def test_no_password_in_a_url_is_shown(password: str) -> None:
    if not any(character.isspace() for character in password):
        assert f":{password}@" not in masked("url", f"https://u:{password}@host.example")
