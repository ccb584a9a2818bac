"""Rules of sandboxes that cut the network: what leads out is the bridge to the model, and nothing else does.

Part of `SandboxContract`. A sandbox that refuses the network `model` keeps the rules by that.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from harness2_core.api import Bridge, ConfigError, Exit, Sandbox
from harness2_core.work import process

from .sandbox_room import CANARY, PLACE, Room, said

PORT: Final = 11811
LONG: Final = 4 << 20

_TCP = """
import socket, sys
host, port = sys.argv[1], int(sys.argv[2])
try: print(socket.create_connection((host, port), 3).recv(99).decode())
except OSError as error: print("no:", error)
"""
_UNIX = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.settimeout(3)
for path in sys.argv[1:]:
    try:
        client.connect(path.replace("@", "\\0"))
        print(client.recv(99).decode())
    except OSError as error: print("no:", error)
"""
_NAME = """
import socket, sys
for name in ("harness2.invalid", "example.com", "localhost.localdomain.example"):
    try: print("found", socket.getaddrinfo(name, 80))
    except OSError as error: print("no:", error)
for server in sys.argv[1:]:
    try:
        client = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
        client.settimeout(2)
        client.sendto(b"\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7example\\3com\\0\\0\\1\\0\\1", (server, 53))
        print("answered", client.recv(512))
    except OSError as error: print("no:", error)
"""
_SOCKETS = """
import os, stat
for top in ("/run", "/var/run", "/tmp", "/home", "/root", "/dev"):
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode): print(path)
            except OSError: pass
print(os.environ.get("SSH_AUTH_SOCK", ""), os.environ.get("DOCKER_HOST", ""))
"""
_BOTH_WAYS = """
import hashlib, os, socket, sys
import threading
def one(number):
    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
    sent = bytes([number]) * int(sys.argv[2])
    threading.Thread(target=lambda: (client.sendall(sent), client.shutdown(socket.SHUT_WR))).start()
    got = b""
    while part := client.recv(1 << 16): got += part
    results.append(got == CANARY + sent)
CANARY, results = sys.argv[3].encode(), []
threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(results.count(True))
"""
_CUT = """
import socket, sys
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30)
try: print("ended" if client.recv(99) == b"" else "got something")
except OSError as error: print("ended")
"""
_CHILDREN = """
import os
try: os.waitpid(-1, os.WNOHANG); print("a child")
except ChildProcessError: print("no child")
print(os.listdir("/proc/self/fd"))
"""


class SandboxNetworkRules:
    @pytest.fixture
    def model(self) -> Iterator[Path]:
        """A unix socket of this machine whose other side says the canary, then all that it is sent."""
        with _short_directory() as directory, socket.socket(socket.AF_UNIX) as server:
            server.bind(str(directory / "s"))
            server.listen(64)
            threading.Thread(target=_serve, args=(server, _echo), daemon=True).start()
            yield directory / "s"
            server.shutdown(socket.SHUT_RDWR)

    # --- what must fail

    @pytest.mark.parametrize("network", ["none", "model"])
    def test_no_service_of_this_machine_is_reached(self, room: Room, network: str, model: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_serve, args=(server, _greet), daemon=True).start()
            where = ("127.0.0.1", str(server.getsockname()[1]))
            assert said(room.outside(_TCP, *where)) == f"{CANARY}\n"

            tried = confined(room, _TCP, *where, network=network, model=model)

            server.shutdown(socket.SHUT_RDWR)
        assert said(tried).startswith("no:")

    @pytest.mark.parametrize("network", ["none", "model"])
    def test_no_socket_without_a_file_is_reached(self, room: Room, network: str, model: Path) -> None:
        """Abstract unix sockets belong to the network: desktops, containers and agents of keys listen there."""
        name = f"harness2-{CANARY}-{model.parent.name}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"\0{name}")
            server.listen()
            threading.Thread(target=_serve, args=(server, _greet), daemon=True).start()
            assert said(room.outside(_UNIX, f"@{name}")) == f"{CANARY}\n"

            tried = confined(room, _UNIX, f"@{name}", network=network, model=model)

            server.shutdown(socket.SHUT_RDWR)
        assert said(tried).startswith("no:")

    @pytest.mark.parametrize("network", ["none", "model"])
    def test_no_name_is_resolved(self, room: Room, network: str, model: Path) -> None:
        lines = Path("/etc/resolv.conf").read_text().splitlines() if Path("/etc/resolv.conf").exists() else []
        servers = [line.split()[1] for line in lines if line.startswith("nameserver ") and "%" not in line]

        tried = confined(room, _NAME, *servers, "127.0.0.53", "192.0.2.53", network=network, model=model)

        assert {line[:3] for line in said(tried).splitlines()} == {"no:"}

    @pytest.mark.parametrize("network", ["none", "model"])
    @pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "169.254.170.2", "192.0.2.1", "10.0.0.1"])
    def test_no_other_machine_and_no_cloud_metadata_is_reached(
        self, room: Room, network: str, address: str, model: Path
    ) -> None:
        tried = confined(room, _TCP, address, "80", network=network, model=model)

        assert said(tried).startswith("no:")

    @pytest.mark.parametrize("network", ["none", "model", "open"])
    def test_no_socket_of_this_machine_is_in_sight(
        self, room: Room, network: str, model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of docker, of an agent that holds keys, or of anything else; but for the one that leads to the model."""
        monkeypatch.setenv("SSH_AUTH_SOCK", str(model))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{model}")
        usual = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", str(model))

        seen = said(confined(room, _SOCKETS, network=network, model=model)).splitlines()
        tried = said(confined(room, _UNIX, *usual, network=network, model=model))

        assert len(seen) - 1 <= (network == "model")
        assert seen[-1].strip() == ""
        assert CANARY not in tried

    def test_a_bridge_whose_socket_is_gone_is_refused_by_name(self, room: Room, tmp_path: Path) -> None:
        try:
            room.policy("model")
            room.run("/bin/true", network="model")
        except ConfigError as error:
            pytest.skip(error.what)
        with pytest.raises(ConfigError, match="nowhere"):
            room.run("/bin/true", network="model", bridges=(Bridge(PORT, tmp_path / "nowhere"),))

    # --- what must work

    def test_the_model_is_reached_at_its_port(self, room: Room, model: Path) -> None:
        tried = confined(room, _TCP, "127.0.0.1", str(PORT), network="model", model=model)

        assert said(tried) == f"{CANARY}\n"

    def test_bytes_pass_both_ways_at_once_on_many_connections(self, room: Room, model: Path) -> None:
        tried = confined(room, _BOTH_WAYS, str(PORT), str(LONG), CANARY, network="model", model=model)

        assert said(tried) == "12\n"

    def test_a_connection_that_the_model_closes_ends_inside(self, room: Room) -> None:
        with _short_directory() as directory, socket.socket(socket.AF_UNIX) as server:
            server.bind(str(directory / "s"))
            server.listen()
            threading.Thread(target=_serve, args=(server, socket.socket.close), daemon=True).start()

            tried = confined(room, _CUT, str(PORT), network="model", model=directory / "s")

            server.shutdown(socket.SHUT_RDWR)
        assert said(tried) == "ended\n"

    @pytest.mark.parametrize("status", [0, 3, 255])
    def test_beside_a_bridge_exit_codes_and_input_pass_through(self, room: Room, model: Path, status: int) -> None:
        code = f"import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit({status})"

        ended = confined(room, code, "a b", "", "--", network="model", model=model, stdin=b"given")

        assert (ended.code, said(ended)) == (status, "['a b', '', '--'] given\n")

    def test_beside_a_bridge_a_program_dies_of_its_own_signal(self, room: Room, model: Path) -> None:
        without = room.inside("import os; os.kill(os.getpid(), 9)")

        ended = confined(room, "import os; os.kill(os.getpid(), 9)", network="model", model=model)

        assert (ended.code, ended.signal) == (without.code, without.signal)

    def test_beside_a_bridge_a_program_has_time_to_end_well_and_reaches_its_model(
        self, room: Room, sandbox: Sandbox, model: Path
    ) -> None:
        code = (
            "import signal, sys, time\n"
            f"def end(*_):\n    sys.argv[1:] = ['127.0.0.1', '{PORT}']\n    exec({_TCP!r})\n    sys.exit(7)\n"
            "signal.signal(signal.SIGTERM, end)\nprint('up', flush=True)\ntime.sleep(60)\n"
        )
        argv = (sys.executable, "-I", "-S", "-c", code)
        try:
            wrapped = sandbox.wrap(argv, room.policy("model", Bridge(PORT, model)), PLACE)
        except ConfigError as error:
            pytest.skip(error.what)

        ended = process.run(
            wrapped, cwd=room.workspace, env=room.env, limit_seconds=3, grace_seconds=30, out=room.root / "streams"
        )

        assert (ended.code, ended.timed_out) == (7, True)
        assert said(ended) == f"up\n{CANARY}\n"

    def test_a_bridge_is_no_child_of_the_program_and_nothing_that_it_left_behind(self, room: Room, model: Path) -> None:
        """A program that waits for all its children must not wait for it."""
        ended = confined(room, _CHILDREN, network="model", model=model)

        assert said(ended) == "no child\n" + said(room.inside(_CHILDREN)).split("\n", 1)[1]
        assert ended.usage.left_behind == 0


def confined(room: Room, code: str, *args: str, network: str, model: Path, stdin: bytes = b"") -> Exit:
    """Runs a probe under `network`; skips the test where the sandbox refuses it."""
    bridges = (Bridge(PORT, model),) if network == "model" else ()
    try:
        return room.inside(code, *args, network=network, bridges=bridges, stdin=stdin)
    except ConfigError as error:
        pytest.skip(error.what)


@contextmanager
def _short_directory() -> Iterator[Path]:
    """Paths of unix sockets have room for about a hundred bytes."""
    path = Path(tempfile.mkdtemp(dir="/tmp", prefix="h2t-"))
    yield path
    shutil.rmtree(path)


def _serve(server: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(client,), daemon=True).start()


def _greet(client: socket.socket) -> None:
    with client:
        client.sendall(CANARY.encode())


def _echo(client: socket.socket) -> None:
    with client:
        client.sendall(CANARY.encode())
        while data := client.recv(1 << 16):
            client.sendall(data)
