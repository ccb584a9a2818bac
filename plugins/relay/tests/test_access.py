"""The contract of model access, and what a run's key opens."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness2_relay.access import RelayAccess
from harness2_relay.settings import Settings

from harness2_core.api import Channel, ConfigError, Endpoint, InvalidValue, digest_bytes
from harness2_core.testing.access_contract import AccessContract
from harness2_core.testing.model_server import ModelServer
from harness2_core.testing.model_turns import Turn
from harness2_core.testing.raw_endpoint import RawEndpoint, ask, saying, whole

KEY = "canary-of-the-endpoint-7c1e"
VARIABLE = "CANARY_KEY"


def channel(url: str, **options: str) -> Channel:
    return Channel("vendor/model", options={"url": url, "key_variable": VARIABLE} | options)


class TestRelay(AccessContract):
    @pytest.fixture
    def access(self) -> RelayAccess:
        return RelayAccess(environment={VARIABLE: KEY})

    @pytest.fixture
    def channels(self) -> Sequence[Channel]:
        return (channel("http://127.0.0.1:9/v1"), channel("https://models.invalid/a/b"), Channel())

    @pytest.fixture
    def refused(self) -> Sequence[Channel]:
        return (
            channel(""),
            channel("http://127.0.0.1:9/v1", key_variable="NOT_SET"),
            channel("ftp://models.invalid"),
            channel("https://user:canary@models.invalid/v1"),
        )

    @pytest.fixture
    def secrets(self) -> Sequence[str]:
        return [KEY, "user:canary"]


def test_an_agent_asks_with_its_own_key_and_the_endpoint_sees_the_real_one() -> None:
    access = RelayAccess(environment={VARIABLE: KEY})
    with (
        ModelServer(Turn("hello"), key=KEY) as server,
        access.open(channel(f"{server.url}/v1"), digest_bytes(b"run"), "executor") as endpoint,
    ):
        answer = ask(endpoint, body=b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}')

        assert answer.status == 200
        assert json.loads(answer.read())["choices"][0]["message"]["content"] == "hello"
        assert KEY not in endpoint.key + endpoint.url


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "api-key"])
def test_the_key_comes_in_the_header_in_which_the_token_came(opened: Callable[[str], Endpoint], header: str) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(upstream.url)
        bearer = "Bearer " if header == "Authorization" else ""

        ask(endpoint, headers={header: f"{bearer}{endpoint.key}"}).read()

        (head,) = upstream.heads
        assert f"{header}: {bearer}{KEY}".encode() in head.split(b"\r\n")
        assert endpoint.key.encode() not in head
        assert head.count(KEY.encode()) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {KEY}"},
        {"x-api-key": KEY},
        {"Authorization": "Basic {token}"},
        {"Authorization": "Bearer {token}", "x-api-key": "another"},
        {"X-Other": "{token}"},
        {"Authorization": "Bearer {token}x"},
        {"Authorization": "Bearer ü"},
    ],
)
def test_without_the_token_nothing_is_passed_on(opened: Callable[[str], Endpoint], headers: dict[str, str]) -> None:
    """The real key is no token either."""
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(upstream.url)

        answer = ask(endpoint, headers={name: value.format(token=endpoint.key) for name, value in headers.items()})

        said = json.loads(answer.read())
        assert (answer.status, said["type"], said["error"]["type"]) == (401, "error", "authentication_error")
        assert upstream.heads == []


def test_a_token_dies_with_its_run(access: RelayAccess) -> None:
    with (
        RawEndpoint(saying(whole(b"ok"))) as upstream,
        access.open(channel(upstream.url), digest_bytes(b"other"), "executor") as other,
    ):
        with access.open(channel(upstream.url), digest_bytes(b"run"), "executor") as endpoint:
            assert ask(endpoint).status == 200
        assert ask(endpoint).status == 401
        assert ask(other).status == 200
        assert len(upstream.heads) == 2


def test_what_is_under_way_when_a_run_ends_is_cut(access: RelayAccess) -> None:
    """Else a program left behind, or a hung endpoint, would go on costing money."""
    gone, begun = threading.Event(), threading.Event()

    def slow(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n")
        begun.set()
        while client.recv(1 << 16):
            pass
        gone.set()

    with RawEndpoint(slow) as upstream:
        with (
            access.open(channel(upstream.url), digest_bytes(b"other"), "executor"),
            access.open(channel(upstream.url), digest_bytes(b"run"), "executor") as endpoint,
        ):
            answer = ask(endpoint)
            assert begun.wait(30)
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
        assert gone.wait(30)


def test_tokens_are_long_and_never_the_same(access: RelayAccess) -> None:
    tokens = set()
    for number in range(50):
        with access.open(channel("http://127.0.0.1:9"), digest_bytes(b"same"), "executor") as endpoint:
            tokens.add(endpoint.key)
            assert len(endpoint.key) >= 43, number
    assert len(tokens) == 50


def test_the_socket_leads_where_the_port_does_and_is_nobody_elses(opened: Callable[[str], Endpoint]) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(f"{upstream.url}/v1")
        assert endpoint.socket is not None
        assert stat.S_IMODE(endpoint.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(endpoint.socket.stat().st_mode) == 0o600
        assert len(os.fsencode(endpoint.socket)) <= 100

        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(str(endpoint.socket))
            client.sendall(f"GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: {endpoint.key}\r\n\r\n".encode())
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK\r\n")

    assert upstream.heads[0].startswith(b"GET /v1/models HTTP/1.1\r\n")


def test_nothing_is_left_when_nobody_needs_it(access: RelayAccess) -> None:
    with access.open(channel("http://127.0.0.1:9"), digest_bytes(b"a"), "executor") as one:
        with access.open(channel("http://127.0.0.1:9"), digest_bytes(b"b"), "executor") as two:
            assert one.socket == two.socket
        assert one.socket is not None
        assert one.socket.exists()

    assert not one.socket.parent.exists()
    assert "model-relay" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(ConnectionRefusedError):
        ask(one)


@pytest.mark.parametrize("given", [Channel(), Channel("a-service-knows-it")])
def test_without_a_url_there_is_nothing_to_reach(access: RelayAccess, given: Channel) -> None:
    with access.open(given, digest_bytes(b"a"), "executor") as endpoint:
        assert endpoint == Endpoint()
    assert access.channel_problems(given, "executor") == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (channel(""), "no url"),
        (Channel(options={"key_variable": VARIABLE}), "no url"),
        (channel("http://127.0.0.1:9", key_variable="NOT_SET"), "export NOT_SET"),
        (channel("models.example/v1"), "no http or https address"),
        (channel("https://models.example/v1?key=canary"), "query"),
        (channel("https://a:canary@models.example/v1"), "password"),
        (channel("https://models.example/v1/../.."), "climbs"),
        (channel("http://[::1"), "cannot be read"),
        (channel("http://a:b/v1"), "cannot be read"),
        (channel("https://a:canary\N{DOUBLE-STRUCK CAPITAL C}\N{CARE OF}@models.example/v1"), "cannot be read"),
    ],
)
def test_what_keeps_a_channel_from_being_opened_is_told_before_it_is(given: Channel, said: str) -> None:
    access = RelayAccess(environment={VARIABLE: KEY})

    (problem,) = access.channel_problems(given, "improver")

    assert said in problem
    assert "canary" not in problem.replace(VARIABLE, "")
    with pytest.raises(ConfigError), access.open(given, digest_bytes(b"a"), "improver"):
        pass


def test_a_key_with_a_line_end_is_refused_without_being_said() -> None:
    (problem,) = RelayAccess(environment={VARIABLE: "canary\n"}).channel_problems(channel("http://a.invalid"), "judge")

    assert f"the key in {VARIABLE}" in problem
    assert "canary\n" not in problem


def test_eight_agents_and_more_at_once_get_their_own_answers(access: RelayAccess) -> None:
    def turn(asked: object) -> Turn:
        return Turn(getattr(asked, "body")["messages"][0]["content"])  # noqa: B009

    with ModelServer(*[turn] * 48, key=KEY) as server:

        def work(number: int) -> list[str]:
            said = []
            with access.open(channel(f"{server.url}/v1"), digest_bytes(b"%d" % number), "executor") as endpoint:
                for round_ in range(2):
                    words = f"run {number} round {round_} " + "x" * 50_000
                    body = {"model": "m", "messages": [{"role": "user", "content": words}]}
                    said.append(str(ask(endpoint, body=json.dumps(body).encode()).read().count(words.encode())))
            return said

        with ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(work, range(24)))

    assert server.left == 0
    assert {count for said in answers for count in said} == {"1"}


def test_a_long_temporary_directory_is_no_place_for_a_socket(tmp_path: Path) -> None:
    long = tmp_path / ("d" * 100)
    long.mkdir()

    access = RelayAccess(Settings(socket_dir=str(long)), {VARIABLE: KEY})

    with (
        pytest.raises(ConfigError, match="socket") as raised,
        access.open(channel("http://127.0.0.1:9"), digest_bytes(b"a"), "executor"),
    ):
        pass
    assert "socket_dir" in raised.value.remedy
    assert list(long.iterdir()) == []


def test_a_waiting_time_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValue, match="connect_seconds"):
        Settings(connect_seconds=0)


@pytest.mark.process
def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    """Short paths only: hence not below `tmp_path`."""
    place = Path(tempfile.mkdtemp(dir="/tmp", prefix="t"))
    access = RelayAccess(Settings(socket_dir=str(place)))
    (place / "h2relay-someones").mkdir()
    (place / "h2relay-someones" / "notes").write_text("kept")
    child = os.fork()
    if child == 0:
        with access.open(Channel(options={"url": "http://127.0.0.1:9"}), digest_bytes(b"child"), "executor"):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = place.glob("h2relay-*/s")

    with access.open(Channel(options={"url": "http://127.0.0.1:9"}), digest_bytes(b"a"), "executor") as endpoint:
        other = RelayAccess(Settings(socket_dir=str(place)))
        with other.open(Channel(options={"url": "http://127.0.0.1:9"}), digest_bytes(b"b"), "executor"):
            assert endpoint.socket is not None
            assert endpoint.socket.exists()
        assert not left.parent.exists()

    assert [path.name for path in place.iterdir()] == ["h2relay-someones"]
    shutil.rmtree(place)


@pytest.mark.process
def test_a_forked_child_that_leaves_its_parents_relay_keeps_count_of_its_own(access: RelayAccess) -> None:
    parents = access.open(channel("http://127.0.0.1:9"), digest_bytes(b"parent"), "executor")
    parents.__enter__()
    child = os.fork()
    if child == 0:
        try:
            parents.__exit__(None, None, None)
            with access.open(channel("http://127.0.0.1:9"), digest_bytes(b"child"), "executor") as own:
                path = own.socket
            os._exit(0 if path is not None and not path.exists() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    parents.__exit__(None, None, None)


@pytest.mark.process
def test_a_forked_child_has_a_relay_of_its_own(opened: Callable[[str], Endpoint], access: RelayAccess) -> None:
    """Its parent's thread does not exist in it, and it holds the parent's port no longer than that needs."""
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        parents = opened(upstream.url)
        child = os.fork()
        if child == 0:
            try:
                with access.open(channel(upstream.url), digest_bytes(b"child"), "executor") as own:
                    fine = own.socket != parents.socket and ask(own).status == 200
                os._exit(0 if fine else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ask(parents).status == 200


@pytest.fixture(autouse=True)
def _nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    caplog.set_level(0)
    yield
    printed = capfd.readouterr()
    everything = caplog.text + printed.out + printed.err
    assert KEY not in everything
    assert "run-" not in everything
