"""One request on its way: what passes, in which pieces, and what a client sees of an end that was none."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable

import pytest
from harness2_relay.access import RelayAccess
from harness2_relay.settings import Settings

from harness2_core.api import Channel, Endpoint, digest_bytes
from harness2_core.testing.raw_endpoint import RawEndpoint, ask, saying, whole

KEY = "canary-of-the-endpoint-7c1e"

Opened = Callable[[str], Endpoint]


def test_events_pass_as_they_come(opened: Opened) -> None:
    """The second event is sent only after the client has read the first."""
    read = threading.Event()

    def stream(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.sendall(b"8\r\ndata: 1\n\r\n")
        assert read.wait(30)
        client.sendall(b"8\r\ndata: 2\n\r\n0\r\n\r\n")

    with RawEndpoint(stream) as upstream:
        answer = ask(opened(upstream.url))
        first = answer.read(8)
        read.set()

        assert (first, answer.read()) == (b"data: 1\n", b"data: 2\n")
        assert answer.getheader("content-type") == "text/event-stream"


def test_the_head_of_an_answer_passes_before_its_body(opened: Opened) -> None:
    """Agents count their time to the head: a model may think for long before the first word."""
    seen = threading.Event()

    def slow(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        assert seen.wait(30)
        client.sendall(b"done")

    with RawEndpoint(slow) as upstream:
        answer = ask(opened(upstream.url))
        seen.set()

        assert answer.read() == b"done"


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n9\r\nsec",
    ],
    ids=["between chunks", "in a body of known length", "in a chunk"],
)
def test_an_answer_that_breaks_off_is_cut_for_the_client_too(opened: Opened, cut: bytes) -> None:
    with RawEndpoint(saying(cut)) as upstream:
        answer = ask(opened(upstream.url))

        assert answer.status == 200
        with pytest.raises(http.client.IncompleteRead) as raised:
            answer.read()
        assert raised.value.partial.startswith(b"first")  # what came before is not lost


def test_a_client_that_could_not_tell_a_cut_from_an_end_is_refused(opened: Opened) -> None:
    """With HTTP/1.0 a closed connection is the end."""
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(upstream.url)
        host, _, port = endpoint.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), 30) as client:
            client.sendall(f"GET /x HTTP/1.0\r\nx-api-key: {endpoint.key}\r\n\r\n".encode())
            assert b" 505 " in client.recv(1 << 16)

        assert upstream.heads == []


def test_an_answer_that_never_begins_is_a_502(opened: Opened) -> None:
    with RawEndpoint(saying(b"")) as upstream:
        answer = ask(opened(upstream.url))

        said = json.loads(answer.read())
        assert (answer.status, said["type"], said["error"]["code"]) == (502, "error", "relay")
        assert upstream.url in said["error"]["message"]


def test_an_endpoint_that_is_down_is_a_502_that_says_so(opened: Opened) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    answer = ask(opened(f"http://127.0.0.1:{port}/v1"))

    message = json.loads(answer.read())["error"]["message"]
    assert answer.status == 502
    assert message == f"the relay could not reach http://127.0.0.1:{port}: Connection refused"
    assert KEY not in message


def test_an_endpoint_without_a_name_is_a_502_too(opened: Opened) -> None:
    answer = ask(opened("http://models.invalid/v1"))

    assert answer.status == 502
    assert "http://models.invalid" in json.loads(answer.read())["error"]["message"]


@pytest.mark.parametrize("status", [b"400 Bad Request", b"429 Too Many Requests", b"500 Oh", b"529 Overloaded"])
def test_errors_of_the_endpoint_pass_with_their_headers(opened: Opened, status: bytes) -> None:
    said = whole(b'{"error": "no"}', b"Retry-After: 7", b"x-request-id: abc", status=status)
    with RawEndpoint(saying(said)) as upstream:
        answer = ask(opened(upstream.url))

        assert answer.status == int(status.split()[0])
        assert (answer.getheader("retry-after"), answer.getheader("x-request-id")) == ("7", "abc")
        assert answer.read() == b'{"error": "no"}'


def test_redirects_are_not_followed(opened: Opened) -> None:
    with RawEndpoint(saying(whole(b"taken"))) as elsewhere:
        moved = whole(b"", b"Location: " + elsewhere.url.encode(), status=b"307 Temporary Redirect")
        with RawEndpoint(saying(moved)) as upstream:
            assert ask(opened(upstream.url)).status == 307

        assert elsewhere.heads == []


@pytest.mark.parametrize(
    "path",
    [
        "/other",
        "/v1x",
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/%252e%252e/admin",
        "/v1/..%2fadmin",
        "/v1/..%5cadmin",
        "/v1/a\\..\\..\\admin",
        "/v1/..;x=1/admin",
        "/v1/..%3b/admin",
        "/v1/..%00/admin",
        "/v1/%c0%ae%c0%ae/admin",
        "/%76%31/../v1/x",
        "/%76%31/x",
        "//v1/x",
        "http://elsewhere.invalid/v1/x",
        "*",
    ],
)
def test_only_what_is_below_the_url_is_passed_on(opened: Opened, path: str) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(f"{upstream.url}/v1")
        host = endpoint.url.removeprefix("http://").partition("/")[0]
        name, _, port = host.partition(":")
        with socket.create_connection((name, int(port)), 30) as client:
            head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nx-api-key: {endpoint.key}\r\nConnection: close\r\n\r\n"
            client.sendall(head.encode())
            said = client.recv(1 << 16)

        assert said.split(b" ")[1][:1] == b"4", said
        assert upstream.heads == []


@pytest.mark.parametrize("path", ["/models/vendor%2Fmodel?a=%2Fb&c=d%20e", "/x;y=1/..z/a.b", "/messages?beta=true", ""])
def test_paths_and_queries_pass_as_they_are(opened: Opened, path: str) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        assert ask(opened(f"{upstream.url}/v1"), path).status == 200

        assert upstream.heads[0].split(b"\r\n")[0] == f"POST /v1{path} HTTP/1.1".encode()


def test_headers_of_one_connection_stay_there(opened: Opened) -> None:
    answered = whole(
        b"ok", b"Connection: x-hop", b"X-Hop: 1", b"Keep-Alive: timeout=5", b"Set-Cookie: a=b", b"X-Far: 2"
    )
    with RawEndpoint(saying(answered)) as upstream:
        endpoint = opened(upstream.url)
        sent = {
            "Authorization": f"Bearer {endpoint.key}",
            "Connection": "keep-alive, X-Mine",
            "X-Mine": "1",
            "TE": "trailers",
            "Proxy-Authorization": "canary",
            "Cookie": "canary",
            "X-Far": "there",
            "anthropic-beta": "a,b",
            "Accept-Encoding": "gzip, br",
        }

        answer = ask(endpoint, headers=sent)

        (head,) = upstream.heads
        lines = {line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
        assert lines.isdisjoint({b"x-mine", b"te", b"proxy-authorization", b"cookie", b"keep-alive"})
        assert {b"x-far", b"anthropic-beta"} <= lines
        assert b"Accept-Encoding: identity" in head.split(b"\r\n")
        assert b"gzip" not in head
        assert f"Host: {upstream.url.removeprefix('http://')}".encode() in head.split(b"\r\n")
        assert {name: answer.getheader(name) for name in ("X-Hop", "Keep-Alive", "Set-Cookie", "X-Far")} == {
            "X-Hop": None,
            "Keep-Alive": None,
            "Set-Cookie": None,
            "X-Far": "2",
        }


def test_an_endpoint_that_says_the_key_back_is_not_heard(opened: Opened) -> None:
    key = KEY.encode()

    def echo(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 401 No\r\nX-Saw: " + key + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in (b"bad key: " + key[:5], key[5:] + b"!", key, b"end " + key[:4]):
            client.sendall(b"%x\r\n%b\r\n" % (len(part), part))
            time.sleep(0.02)
        client.sendall(b"0\r\n\r\n")

    with RawEndpoint(echo) as upstream:
        answer = ask(opened(upstream.url))

        stars = b"*" * len(key)
        assert answer.read() == b"bad key: " + stars + b"!" + stars + b"end " + key[:4]
        assert answer.getheader("X-Saw") == stars.decode()


def test_a_body_that_is_compressed_all_the_same_passes_as_it_is(opened: Opened) -> None:
    body = gzip.compress(b"words")
    with RawEndpoint(saying(whole(body, b"Content-Encoding: gzip"))) as upstream:
        answer = ask(opened(upstream.url))

        assert (answer.read(), answer.getheader("Content-Encoding")) == (body, "gzip")


def test_large_bodies_pass_in_both_directions_without_being_held(opened: Opened) -> None:
    size = 48 << 20
    digest = hashlib.sha256()

    def swallow(client: socket.socket, rest: bytes) -> None:
        digest.update(rest)
        left = size - len(rest)
        while left:
            part = client.recv(min(left, 1 << 16))
            if not part:
                return
            digest.update(part)
            left -= len(part)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 20):
            client.sendall(b"\0" * (1 << 20))

    with RawEndpoint(swallow) as upstream:
        answer = ask(opened(upstream.url), body=b"\1" * size)

        read = 0
        while part := answer.read(1 << 20):
            read += len(part)
        assert read == size
        assert digest.hexdigest() == hashlib.sha256(b"\1" * size).hexdigest()
        assert b"Content-Length: %d" % size in upstream.heads[0]


def test_a_body_of_unknown_length_passes_in_chunks(opened: Opened) -> None:
    got = []

    def take(client: socket.socket, rest: bytes) -> None:
        data = rest
        while not data.endswith(b"0\r\n\r\n"):
            data += client.recv(1 << 16)
        got.append(data)
        client.sendall(whole(b"ok"))

    with RawEndpoint(take) as upstream:
        endpoint = opened(upstream.url)
        connection = http.client.HTTPConnection(endpoint.url.removeprefix("http://"), timeout=30)
        connection.request("POST", "/x", iter([b"one", b"two"]), {"x-api-key": endpoint.key}, encode_chunked=True)

        assert connection.getresponse().read() == b"ok"
        assert b"one" in got[0]
        assert b"two" in got[0]


def test_a_client_that_waits_to_be_told_to_go_on_is_told(opened: Opened) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(upstream.url)
        name, _, port = endpoint.url.removeprefix("http://").partition(":")
        with socket.create_connection((name, int(port)), 30) as client:
            head = f"POST /x HTTP/1.1\r\nHost: x\r\nx-api-key: {endpoint.key}\r\n"
            client.sendall(f"{head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode())
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
            client.sendall(b"{}")
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
        assert b"Expect" not in upstream.heads[0]


def test_a_client_that_goes_away_ends_the_request_at_the_endpoint(opened: Opened) -> None:
    gone = threading.Event()

    def slow(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        while client.recv(1 << 16):
            pass
        gone.set()

    with RawEndpoint(slow) as upstream:
        answer = ask(opened(upstream.url))
        answer.close()

        assert gone.wait(30)


def test_a_websocket_is_refused_in_words(opened: Opened) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        endpoint = opened(upstream.url)
        sent = {"x-api-key": endpoint.key, "Connection": "Upgrade", "Upgrade": "websocket"}

        answer = ask(endpoint, method="GET", body=None, headers=sent)

        assert answer.status == 501
        assert "websocket" in json.loads(answer.read())["error"]["message"]


def test_a_request_without_a_body_has_none_at_the_endpoint(opened: Opened) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        assert ask(opened(upstream.url), "/models", method="GET", body=None).read() == b"ok"

        (head,) = upstream.heads
        assert b"transfer-encoding" not in head.lower()
        assert b"content-length" not in head.lower()


@pytest.mark.parametrize("method", ["HEAD", "DELETE", "OPTIONS", "PATCH"])
def test_every_method_passes(opened: Opened, method: str) -> None:
    with RawEndpoint(saying(whole(b"" if method == "HEAD" else b"ok"))) as upstream:
        assert ask(opened(upstream.url), "/x", method=method, body=None).status == 200

        assert upstream.heads[0].startswith(f"{method} /x ".encode())


def test_the_way_may_lead_over_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured one; those of the environment are for other programs."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with RawEndpoint(saying(whole(b"ok"))) as proxy:
        access = RelayAccess(Settings(proxy=proxy.url))
        channel = Channel("m", options={"url": "http://models.invalid/v1"})
        with access.open(channel, digest_bytes(b"a"), "executor") as endpoint:
            assert ask(endpoint).status == 200

        assert proxy.heads[0].startswith(b"POST http://models.invalid/v1/chat/completions HTTP/1.1")
