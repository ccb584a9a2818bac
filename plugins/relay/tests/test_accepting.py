"""An agent that opens connections without end takes neither the worker's files nor the way of others."""

from __future__ import annotations

import http.client
import resource
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from harness2_relay import accepting, forwarding

from harness2_core.api import Endpoint
from harness2_core.testing.raw_endpoint import RawEndpoint, ask, saying, whole

Opened = Callable[[str], Endpoint]
PROCESS = Path("/proc/self/fd")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(accepting, "most_connections", lambda: 8)
    return 8


def connected(endpoint: Endpoint) -> socket.socket:
    name, _, port = endpoint.url.removeprefix("http://").partition("/")[0].partition(":")
    return socket.create_connection((name, int(port)), 30)


@pytest.mark.skipif(not PROCESS.exists(), reason="counts files in /proc")
def test_many_idle_connections_take_few_files_and_others_still_get_through(opened: Opened, few: int) -> None:
    with RawEndpoint(saying(whole(b"ok"))) as upstream, ExitStack() as held:
        endpoint = opened(f"{upstream.url}/v1")
        before = len(list(PROCESS.iterdir()))
        for _ in range(10 * few):
            held.enter_context(connected(endpoint))

        said = ask(endpoint, "/a")

        ours = 10 * few  # the clients' ends are of this process too
        assert said.status == 200
        assert len(list(PROCESS.iterdir())) - before - ours <= few + 4


def test_what_is_under_way_does_not_give_way_to_idle_connections(opened: Opened, few: int) -> None:
    asked, go = threading.Event(), threading.Event()

    def slow(client: socket.socket, _: bytes) -> None:
        asked.set()
        go.wait(30)
        client.sendall(whole(b"ok"))

    with RawEndpoint(slow) as upstream, ThreadPoolExecutor(1) as pool, ExitStack() as held:
        endpoint = opened(f"{upstream.url}/v1")
        answer = pool.submit(ask, endpoint, "/a")
        assert asked.wait(30)
        for _ in range(5 * few):
            held.enter_context(connected(endpoint))
        go.set()

        assert answer.result(30).status == 200


def test_a_run_has_only_so_many_requests_under_way(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_AT_ONCE", 3)
    go = threading.Event()
    arrived = threading.Semaphore(0)

    def slow(client: socket.socket, _: bytes) -> None:
        arrived.release()
        go.wait(30)
        client.sendall(whole(b"ok"))

    with RawEndpoint(slow) as upstream, ThreadPoolExecutor(3) as pool:
        endpoint = opened(f"{upstream.url}/v1")
        other = opened(f"{upstream.url}/v1")
        waiting = [pool.submit(ask, endpoint, "/a") for _ in range(3)]
        assert all(arrived.acquire(timeout=30) for _ in range(3))

        refused = ask(endpoint, "/a")
        go.set()

        assert refused.status == http.client.TOO_MANY_REQUESTS
        assert ask(other, "/a").status == 200
        assert [answer.result(30).status for answer in waiting] == [200] * 3


def test_the_bound_leaves_most_files_to_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))

    assert accepting.most_connections() == 256
