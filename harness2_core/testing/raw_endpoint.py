"""An endpoint of bytes for tests of model access: it notes what it is sent, answers what a test says, cuts included.

    with RawEndpoint(saying(whole(b"ok"))) as upstream:
        ...  # something that asks upstream.url
    assert upstream.heads[0].startswith(b"POST ")

`ModelServer` speaks protocols; this one says what no proper server would.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self, final

from harness2_core.api import Endpoint


@final
class RawEndpoint:
    """Each connection is given to `answer`, after its head was read into `heads`; then it is closed.

    `answer` also gets what came behind the head: anything from nothing to the body; the whole body with `bodies`.
    """

    def __init__(self, answer: Callable[[socket.socket, bytes], None], *, bodies: bool = False) -> None:
        self.heads: list[bytes] = []
        self._bodies = bodies
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # what waits in `accept` would wait on after a mere close
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client: socket.socket) -> None:
        with client:
            data = b""
            while b"\r\n\r\n" not in data:
                part = client.recv(1 << 16)
                if not part:
                    return
                data += part
            head, _, rest = data.partition(b"\r\n\r\n")
            while self._bodies and len(rest) < _length(head):
                part = client.recv(1 << 16)
                if not part:  # cut in the middle of its body: no request
                    return
                rest += part
            self.heads.append(head)
            try:
                self._answer(client, rest)
            except OSError:
                return


def _length(head: bytes) -> int:
    """Of the body that a head tells of."""
    lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), 0)


def saying(text: bytes) -> Callable[[socket.socket, bytes], None]:
    return lambda client, _: client.sendall(text)


def whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def ask(
    endpoint: Endpoint,
    path: str = "/chat/completions",
    *,
    method: str = "POST",
    body: bytes | None = b"{}",
    headers: Mapping[str, str] | None = None,
    key: str | None = None,
) -> http.client.HTTPResponse:
    """One request as an agent makes it, its connection left open for the answer to be read."""
    host, _, base = endpoint.url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=30)
    sent = {"Authorization": f"Bearer {endpoint.key if key is None else key}"} if headers is None else headers
    connection.request(method, f"/{base}{path}" if base else path, body, dict(sent))
    return connection.getresponse()
