"""Paths, headers and the striking of keys, as pure rules."""

from __future__ import annotations

import time
from urllib.parse import unquote

from harness2_relay.grants import Grants, Upstream, upstream
from harness2_relay.headers import downwards, token_in, upwards
from harness2_relay.striking import Striking
from hypothesis import given
from hypothesis import strategies as st

PIECES = st.sampled_from(["v1", "..", ".", "%2e", "%2E%2e", "%252e", "/", "//", "%2f", "%5c", "\\", "a", "", "?", "%"])


@given(st.lists(PIECES, max_size=9))
def test_no_path_climbs_however_often_it_is_decoded(pieces: list[str]) -> None:
    path = "/" + "/".join(pieces)

    target = Upstream("http://a.invalid", "/v1").target(path)

    if target is not None:
        read = target.removeprefix("http://a.invalid").partition("?")[0]
        for _ in range(5):
            assert read == "/v1" or read.startswith("/v1/")
            assert ".." not in read.replace("\\", "/").split("/")
            read = unquote(read)


def test_a_path_of_nothing_but_hidden_percent_signs_takes_no_time() -> None:
    path = "/v1/%" + "25" * 30_000

    begun = time.process_time()
    target = Upstream("http://a.invalid", "/v1").target(path)

    assert target is None
    assert time.process_time() - begun < 0.5  # decoded to its end it takes many seconds, of every run's relay


@given(st.lists(st.binary(max_size=6), max_size=8), st.sampled_from(["abcabd", "aaaaaa", "secret-key"]))
def test_a_key_never_passes_however_it_is_cut(parts: list[bytes], key: str) -> None:
    around = [part.replace(b"a", b"ab") for part in parts]
    text = key.encode().join(around)
    for size in (1, 2, 5, len(text) or 1):
        struck = Striking(key)
        passed = b"".join(struck.take(text[at : at + size]) for at in range(0, len(text), size)) + struck.rest()

        assert len(passed) == len(text)
        assert key.encode() not in passed
        assert passed == text.replace(key.encode(), b"*" * len(key))


def test_what_cannot_be_a_keys_beginning_is_not_held_back() -> None:
    struck = Striking("secret-key")

    assert struck.take(b"data: {}\n\n") == b"data: {}\n\n"
    assert struck.take(b"data: se") == b"data: "
    assert struck.take(b"nt\n\n") == b"sent\n\n"


def test_without_a_key_no_credentials_go_up() -> None:
    headers = [("Authorization", "Bearer t"), ("x-api-key", "t"), ("X-Far", "1")]

    assert [name for name, _ in upwards(headers, "")] == ["X-Far", "Accept-Encoding"]


def test_headers_with_one_name_twice_all_pass() -> None:
    headers = [("X-A", "1"), ("x-a", "2"), ("Connection", "close")]

    assert list(downwards(headers)) == headers[:2]


def test_two_keys_are_no_token() -> None:
    assert token_in([("Authorization", "bearer  t"), ("x-api-key", "t")]) == "t"
    assert token_in([("Authorization", "Bearer t"), ("api-key", "u")]) == ""
    assert token_in([]) == ""


def test_an_upstream_does_not_show_its_key() -> None:
    assert "canary" not in repr(upstream("https://a.invalid/v1/", "canary"))
    assert upstream("https://a.invalid:8443/v1/") == Upstream("https://a.invalid:8443", "/v1")


def test_a_revoked_token_opens_nothing() -> None:
    grants, to = Grants(), upstream("https://a.invalid")
    token = grants.grant(to)
    assert grants.find(token) is to
    grants.revoke(token)
    assert grants.find(token) is None
    assert grants.find("") is None
