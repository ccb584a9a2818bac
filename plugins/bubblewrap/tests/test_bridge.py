"""The forwarder that a bridge leaves behind, by itself: what a program does to it, the next request must not feel."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from harness2_bubblewrap import bridge

pytestmark = pytest.mark.process
FILES = 24
"""That the forwarder may open."""


@pytest.fixture
def model() -> Iterator[Path]:
    """A unix socket that says back what it is sent; its path is short, as such paths must be."""
    place = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / "s"))
        listening.listen(128)
        threading.Thread(target=_serve, args=(listening,), daemon=True).start()
        yield place / "s"
        listening.shutdown(socket.SHUT_RDWR)
    shutil.rmtree(place)


@pytest.fixture
def port(model: Path) -> Iterator[int]:
    """Of the loopback, from which the forwarder leads to the model."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        number = listener.fileno()
        limited = ("/bin/sh", "-c", f'ulimit -n {max(FILES, number + 8)}; exec "$0" "$@"')
        argv = (*limited, sys.executable, "-I", "-S", bridge.__file__, f"{number}={model}", "--")
        with subprocess.Popen(argv, pass_fds=[number]) as forwarder:
            try:
                yield listener.getsockname()[1]
            finally:
                forwarder.kill()


def echoed(port: int) -> bytes:
    """What comes back over a new connection; nothing when it was ended."""
    with socket.create_connection(("127.0.0.1", port), 60) as client, suppress(ConnectionError):
        client.sendall(b"is it there?")
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))
    return b""


def test_bytes_pass_in_both_directions_to_their_end(port: int) -> None:
    assert echoed(port) == b"is it there?"


def test_more_connections_than_it_may_open_files_do_not_end_it(port: int) -> None:
    with ExitStack() as held:
        for _ in range(4 * FILES):
            client = held.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            client.sendall(b"held")
        with suppress(ConnectionError, TimeoutError):
            client.settimeout(1)
            client.recv(1)
    assert any(echoed(port) for _ in range(100))


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_echo, args=(connection,), daemon=True).start()


def _echo(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        while data := connection.recv(1 << 16):
            connection.sendall(data)
