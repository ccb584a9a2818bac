"""The endpoint of bytes leaves nothing running, whatever its clients do."""

from __future__ import annotations

import socket
import threading
import time

from harness2_core.testing.raw_endpoint import RawEndpoint, saying, whole


def connected(endpoint: RawEndpoint) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(endpoint.url.rpartition(":")[2])), 30)


def ended(*threads: threading.Thread) -> bool:
    for thread in threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in threads)


def test_it_ends_with_its_context() -> None:
    before = set(threading.enumerate())
    with RawEndpoint(saying(whole(b"ok"))):
        (serving,) = set(threading.enumerate()) - before
        time.sleep(0.1)  # until it waits for a connection; too short, and the test holds all the same

    assert ended(serving)


def test_a_body_that_is_cut_is_no_request() -> None:
    before = set(threading.enumerate())
    with RawEndpoint(saying(whole(b"ok")), bodies=True) as endpoint, connected(endpoint) as client:
        client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf")
        client.shutdown(socket.SHUT_WR)

        assert client.recv(1 << 16) == b""
        assert endpoint.heads == []
    assert ended(*set(threading.enumerate()) - before)
