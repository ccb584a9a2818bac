"""What one token asked beforehand tells, at servers that answer as real ones do."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import pytest

from harness2_core.api import Endpoint, Wire
from harness2_core.sweep.probing import probe
from harness2_core.testing.model_server import ModelServer
from harness2_core.testing.raw_endpoint import RawEndpoint, saying, whole

KEY = "canary-5f1d"
PROTOCOLS: tuple[Wire, ...] = ("chat", "responses", "messages")


def url_of(base: str, protocol: Wire) -> str:
    return base if protocol == "messages" else f"{base}/v1"


def error(status: str, message: str, *headers: bytes) -> bytes:
    return whole(json.dumps({"error": {"message": message}}).encode(), *headers, status=status.encode())


def told(answer: bytes, protocol: Wire = "chat") -> str:
    with RawEndpoint(saying(answer)) as server:
        return probe(Endpoint(url_of(server.url, protocol), KEY), "some-model", protocol, "executor", seconds=30)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_answers_is_no_problem_and_no_turn_is_taken(protocol: Wire) -> None:
    with ModelServer(key=KEY) as server:
        said = probe(Endpoint(url_of(server.url, protocol), KEY), "some-model", protocol, "executor")

        assert (said, server.probed, server.asked) == ("", 1, ())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_key_that_is_refused_names_where_it_came_from(protocol: Wire) -> None:
    with ModelServer(key="another") as server:
        said = probe(Endpoint(url_of(server.url, protocol), KEY), "some-model", protocol, "improver")

    assert "the improver's model 'some-model' at 127.0.0.1" in said
    assert "refuses the key (401" in said
    assert "`key_variable` under [roles.improver.options]" in said
    assert KEY not in said


def test_an_endpoint_that_is_not_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    said = probe(Endpoint(f"http://127.0.0.1:{port}/v1"), "m", "chat", "executor")

    assert f"at 127.0.0.1:{port}/v1 is not reached: Connection refused" in said


def test_behind_a_gateway_the_configured_address_is_told() -> None:
    with ModelServer(key="another") as server:
        said = probe(
            Endpoint(f"{server.url}/v1", KEY), "m", "chat", "executor", url=f"https://u:{KEY}@models.example/v1"
        )

    assert said.startswith("the executor's model 'm' at models.example/v1 refuses the key")


def test_an_endpoint_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = probe(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}"), "m", "chat", "executor", seconds=0.2)

    assert "no answer in time" in said


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("models.example/v1", KEY),
        ("http://127.0.0.1:port/v1", KEY),
        ("http://[::1/v1", KEY),
        (f"http://name:{KEY}@127.0.0.1/v1", ""),
        ("http://127.0.0.1:9/v1", f"{KEY}\n"),
        ("http://127.0.0.1:9/v1", f"{KEY}\N{EN DASH}"),
    ],
    ids=[
        "no scheme",
        "no port",
        "no host",
        "a password",
        "a line end in the key",
        "a letter in the key that no header holds",
    ],
)
def test_what_no_request_can_be_made_of_is_told_without_the_key(url: str, key: str) -> None:
    said = probe(Endpoint(url, key), "m", "chat", "executor", seconds=30)

    assert "cannot be asked; mend `url` under [roles.executor.options]" in said
    assert KEY not in said


def test_a_key_that_an_endpoint_says_back_is_struck_before_its_words_are_cut() -> None:
    said = told(error("500 Internal Server Error", f"{'x' * 295}{KEY}"))

    assert KEY[:5] not in said


def test_an_endpoint_that_hangs_up_is_told() -> None:
    assert "is not reached: " in told(b"")


@pytest.mark.parametrize("refusal", ["404 Not Found", "400 Bad Request"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_is_not_offered_is_compared_with_those_that_are(refusal: str, protocol: Wire) -> None:
    listed = whole(json.dumps({"data": [{"id": "some-model-2"}, {"id": "other"}]}).encode())
    refused = error(refusal, "The model `some-model` does not exist")

    with RawEndpoint(by_path(listed, refused), bodies=True) as server:
        said = probe(Endpoint(url_of(server.url, protocol), KEY), "some-model", protocol, "executor")

    assert "is not offered" in said
    assert "did you mean 'some-model-2'?" in said


def test_where_models_are_not_listed_the_url_may_be_wrong_too() -> None:
    said = told(error("404 Not Found", "nothing here"))

    assert "is not offered there (404: nothing here); mend `model` under [roles.executor], or `url`" in said


def test_a_listed_model_that_is_refused_is_told_as_what_it_is() -> None:
    listed = whole(json.dumps({"data": [{"id": "some-model"}]}).encode())

    with RawEndpoint(by_path(listed, error("404 Not Found", "no such route")), bodies=True) as server:
        said = probe(Endpoint(server.url, KEY), "some-model", "responses", "executor")

    assert "takes the protocol 'responses'" in said


@pytest.mark.parametrize("status", ["429 Too Many Requests", "529 Overloaded"])
def test_what_time_mends_is_no_problem(status: str) -> None:
    assert told(error(status, "slow down")) == ""


@pytest.mark.parametrize(
    "status", ["500 Oh", "503 Unavailable", "402 Payment Required", "302 Found", "400 Bad Request"]
)
def test_other_answers_are_told_in_the_endpoints_words(status: str) -> None:
    said = told(error(status, "quite so", b"Location: http://127.0.0.1:9/"))

    assert f"answers {status[:3]}: quite so; " in said
    assert "--offline" in said


def test_a_key_that_is_said_back_is_not_shown() -> None:
    said = told(error("401 Unauthorized", f"wrong key {KEY}"))

    assert "wrong key (the key)" in said
    assert KEY not in said


def test_an_answer_of_any_bytes_is_told_shortly() -> None:
    assert len(told(whole(b"\xff<html>" * 9000, status=b"500 Oh"))) < 800


def test_a_model_that_wants_its_limit_by_another_name_gets_it() -> None:
    bodies = []

    def answer(client: socket.socket, rest: bytes) -> None:
        bodies.append(json.loads(rest))
        refused = "max_completion_tokens" not in bodies[-1]
        wanted = error("400 Bad Request", "Use 'max_completion_tokens' with this model")
        client.sendall(wanted if refused else whole(b"{}"))

    with RawEndpoint(answer, bodies=True) as server:
        assert probe(Endpoint(server.url, KEY), "m", "chat", "executor") == ""

    assert [sorted(set(body) - {"model", "messages"}) for body in bodies] == [["max_tokens"], ["max_completion_tokens"]]


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)

    assert told(whole(b"{}")) == ""


def by_path(listed: bytes, other: bytes) -> Callable[[socket.socket, bytes], None]:
    """Answers the request for a list, which has no body, and any other."""
    return lambda client, rest: client.sendall(other if rest else listed)
