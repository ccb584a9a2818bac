"""The contract of sandboxes. Subclass it in your tests and give the fixture `sandbox`.

Most of it are escapes that must fail, each tried by a real program; where that can be shown, the same program is run
outside first and must succeed there. A sandbox that fails them does no harm to the machine: probes touch their own
things only.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness2_core.api import ConfigError, FrozenMap, Mount, Policy, Sandbox
from harness2_core.work import process

from .sandbox_network_rules import SandboxNetworkRules
from .sandbox_room import CANARY, PLACE, Room, make_room, python, said

_READ = "import sys\nfor path in sys.argv[1:]:\n    try: print(open(path).read())\n    except OSError: pass\n"
_LINK = "import os, sys\nos.symlink(sys.argv[1], 'link')\nprint(open('link').read())\n"
_HARD_LINK = "import os, sys\nos.link(sys.argv[1], 'hard')\nprint(open('hard').read())\n"
_CLIMB = "import os, sys\nprint(open(os.path.join('../' * 30, sys.argv[1].lstrip('/'))).read())\n"
_PROC = """
import os, sys
for pid in sys.argv[2:]:
    for path in ("root" + sys.argv[1], "cwd/notes.txt", "environ", "cmdline"):
        try: print(open(f"/proc/{pid}/{path}").read())
        except OSError: pass
"""
_WRITE = """
import os, sys
for path in sys.argv[1:]:
    try:
        with open(path, "a") as file: file.write("changed")
        print("wrote", path)
    except OSError: pass
"""
_CONNECT = """
import socket, sys
try: print(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).recv(99).decode())
except OSError as error: print("no:", error)
"""
_POWER = """
import ctypes, os, stat
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("there", exist_ok=True)
def tried(what, call):
    try:
        if call() in (None, 0): print("could", what)
    except OSError: pass
tried("mount", lambda: libc.mount(b"none", b"there", b"tmpfs", 0, None) or libc.umount2(b"there", 2))
tried("chroot", lambda: os.chroot("there"))
for name in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/proc/kcore"):
    tried("open " + name, lambda: os.close(os.open(name, os.O_RDONLY)))
tried("make a device", lambda: os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(8, 0)))
"""
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(3): os.close(n)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with open("beats", "a") as file: file.write(".")
            time.sleep(0.01)
    os._exit(0)
while not os.path.exists("beats"): time.sleep(0.01)
"""

_BOMB = """
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.01)
"""
_FILL = """
import os, time
for number in range(10**6):
    for directory in (".", "/home/agent"):
        try:
            with open(f"{directory}/fill{number}", "wb") as file: file.write(bytes(1 << 20))
        except OSError: pass
    time.sleep(0.002)
"""
_KILL = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
for victim in (os.getppid(), 1, -1):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try: os.kill(victim, number)
        except OSError: pass
print("still here", flush=True)
"""


class SandboxContract(SandboxNetworkRules):
    @pytest.fixture
    def sandbox(self) -> Sandbox:
        raise NotImplementedError("give the sandbox under test")

    @pytest.fixture
    def room(self, sandbox: Sandbox, tmp_path: Path) -> Room:
        reason = sandbox.works()
        if reason:
            pytest.skip(reason)
        return make_room(sandbox, tmp_path.resolve())

    @pytest.fixture(params=["below the temporary directory", "elsewhere"])
    def anywhere(self, sandbox: Sandbox, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
        """The room twice: where private directories may hide things by chance, and where they do not."""
        reason = sandbox.works()
        if reason:
            pytest.skip(reason)
        apart = request.param == "elsewhere"
        root = Path(tempfile.mkdtemp(dir="/var/tmp")) if apart else tmp_path
        yield make_room(sandbox, root.resolve())
        if apart:
            shutil.rmtree(root)

    @pytest.fixture
    def bystander(self, anywhere: Room) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the machine that has nothing to do with the sandbox, a canary in its words and environment."""
        home = anywhere.secrets["another workspace"].parent
        argv = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(120)", CANARY]
        with subprocess.Popen(argv, cwd=home, env=os.environ | {"HELD": CANARY}) as sleeper:
            yield sleeper
            sleeper.kill()

    def test_it_is_a_sandbox(self, sandbox: Sandbox) -> None:
        assert isinstance(sandbox, Sandbox)
        assert sandbox.works() == sandbox.works()

    # --- what must fail

    @pytest.mark.parametrize("probe", [_READ, _LINK, _HARD_LINK, _CLIMB], ids=["path", "link", "hard link", "climb"])
    @pytest.mark.parametrize("secret", ["another workspace", "the store", "the user's home"])
    def test_nothing_around_the_workspace_can_be_read(self, anywhere: Room, probe: str, secret: str) -> None:
        path = str(anywhere.secrets[secret])
        assert CANARY in said(anywhere.outside(probe, path))
        for left in ("link", "hard"):
            (anywhere.workspace / left).unlink(missing_ok=True)

        assert CANARY not in said(anywhere.inside(probe, path))

    def test_a_link_that_an_earlier_program_planted_leads_nowhere(self, anywhere: Room) -> None:
        (anywhere.workspace / "planted").symlink_to(anywhere.secrets["the store"])
        (anywhere.workspace / "relative").symlink_to(Path("..", "..", "store"))
        probe = ("planted", "relative/blobs/5f1d")
        assert said(anywhere.outside(_READ, *probe)).count(CANARY) == 2

        assert CANARY not in said(anywhere.inside(_READ, *probe))

    def test_the_real_home_of_the_user_is_not_there(self, room: Room) -> None:
        home = Path.home().resolve()
        granted = [Path(path) for path in room.policy().mounts if Path(path).is_relative_to(home)]
        leading = {path.relative_to(home).parts[0] for path in granted if path != home}

        listed = room.inside("import os, sys; print(*os.listdir(sys.argv[1]), sep='\\n')", str(home))

        assert not {*listed.stdout.read_text().split("\n")} & {path.name for path in home.iterdir()} - leading

    def test_other_processes_cannot_be_looked_into(self, anywhere: Room, bystander: subprocess.Popen[bytes]) -> None:
        secret = str(anywhere.secrets["the store"])
        assert said(anywhere.outside(_PROC, secret, str(bystander.pid))).count(CANARY) == 4

        near = map(str, range(1, 200))
        assert CANARY not in said(anywhere.inside(_PROC, secret, "self", str(bystander.pid), *near))

    def test_other_processes_cannot_be_signalled(self, anywhere: Room, bystander: subprocess.Popen[bytes]) -> None:
        anywhere.inside("import os, sys; os.kill(int(sys.argv[1]), 9)", str(bystander.pid))

        assert bystander.poll() is None

    def test_nothing_outside_can_be_written(self, anywhere: Room) -> None:
        mine = [*map(str, anywhere.secrets.values()), "/inputs/given.txt", str(anywhere.inputs / "given.txt")]
        system = [Path(directory, "canary-5f1d") for directory in ("/", "/etc", "/usr", Path.home())]

        tried = anywhere.inside(_WRITE, *mine, *map(str, system))

        for path in system:
            path.unlink(missing_ok=True)
        assert said(tried) == ""
        assert {path.read_text() for path in anywhere.secrets.values()} == {f"{CANARY}\n"}
        assert (anywhere.inputs / "given.txt").read_text() == "given\n"

    def test_no_power_over_the_machine_is_left(self, room: Room) -> None:
        assert said(room.inside(_POWER)) == ""

    def test_nothing_of_our_environment_gets_in(self, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HARNESS2_CANARY", CANARY)
        monkeypatch.setenv("PYTHONPATH", f"/{CANARY}")
        everything = "import os\nprint(os.environ)\n" + _PROC.replace("sys.argv[2:]", "os.listdir('/proc')")

        assert CANARY not in said(room.inside(everything, "/nothing"))

    def test_a_daemon_left_behind_is_dead_when_the_run_has_ended(self, room: Room) -> None:
        beats = room.workspace / "beats"

        ended = room.inside(_DAEMON)

        before = beats.stat().st_size
        time.sleep(0.3)
        assert (ended.code, beats.stat().st_size) == (0, before)
        assert before > 0

    def test_who_kills_everybody_in_reach_hurts_itself_only(
        self, anywhere: Room, bystander: subprocess.Popen[bytes]
    ) -> None:
        """The parent, the first process and all others, as far as they can be seen from inside."""
        ended = anywhere.inside(_KILL)

        assert ended.stdout.read_text().startswith("up\n")
        assert not ended.timed_out
        assert bystander.poll() is None

    def test_who_forks_without_end_is_ended(self, room: Room) -> None:
        ended = room.run(*python(_BOMB), processes=40, limit_seconds=3)

        assert ended.code != 0
        assert ended.usage.exceeded == "processes" or ended.timed_out  # a control group lets it be, at its bound

    def test_who_fills_the_disk_is_ended(self, room: Room) -> None:
        ended = room.run(*python(_FILL), disk_mb=30)

        assert (ended.usage.exceeded, ended.timed_out) == ("disk", False)

    def test_network_none_does_not_reach_the_machine_and_open_does(self, room: Room) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_greet, args=(server,), daemon=True).start()
            port = str(server.getsockname()[1])

            assert said(room.inside(_CONNECT, port, network="open")) == f"{CANARY}\n"
            assert said(room.inside(_CONNECT, port, network="none")).startswith("no:")

    @pytest.mark.parametrize("network", ["model", "hosts:a.invalid", "anything"])
    def test_a_network_is_granted_as_asked_or_refused(self, room: Room, network: str) -> None:
        """Either is right; what is wrong is to open more than was asked for."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_greet, args=(server,), daemon=True).start()
            try:
                ended = room.inside(_CONNECT, str(server.getsockname()[1]), network=network)
            except ConfigError as error:
                assert network in error.what
                assert error.remedy
            else:
                assert CANARY not in said(ended)

    def test_a_mount_that_is_not_there_is_refused_by_name(self, room: Room, sandbox: Sandbox) -> None:
        policy = Policy(FrozenMap({"/workspace": Mount(room.root / "nowhere", True)}), "none")

        with pytest.raises(ConfigError, match="nowhere"):
            sandbox.wrap(("/bin/true",), policy, PLACE)

    def test_a_writable_mount_that_is_a_link_is_refused(self, room: Room, sandbox: Sandbox) -> None:
        (room.root / "link").symlink_to(room.secrets["the store"].parent)
        policy = Policy(FrozenMap({"/workspace": Mount(room.root / "link", True)}), "none")

        with pytest.raises(ConfigError, match="link"):
            sandbox.wrap(("/bin/true",), policy, PLACE)

    # --- what must work

    def test_what_is_granted_can_be_read_and_written(self, room: Room) -> None:
        (room.workspace / "there").write_text("before\n")
        both = _READ + "open('output.txt', 'w').write('after')\nopen('/home/agent/kept', 'w').write('mine')\n"

        ended = room.inside(both, "/inputs/given.txt", "there", "/workspace/there")

        assert said(ended).split() == ["given", "before", "before"]
        assert (room.workspace / "output.txt").read_text() == "after"
        assert (room.home / "kept").read_text() == "mine"

    def test_a_program_starts_in_its_workspace(self, room: Room) -> None:
        assert said(room.run("/bin/pwd")) == f"{PLACE.workspace}\n"

    def test_the_temporary_directory_is_private_and_fresh(self, room: Room) -> None:
        here = Path(tempfile.mkdtemp(dir="/tmp"))
        touch = "import os, sys\nprint(os.listdir('/tmp'))\nos.mkdir(sys.argv[1])\n"

        first, second = (said(room.inside(touch, f"{here}-left")) for _ in range(2))

        here.rmdir()
        assert first == second  # it may show where the interpreter is
        assert here.name not in first
        with pytest.raises(FileNotFoundError):
            Path(f"{here}-left").rmdir()

    @pytest.mark.parametrize("status", [0, 1, 3, 255])
    def test_exit_codes_pass_through(self, room: Room, status: int) -> None:
        assert room.inside(f"import sys; sys.exit({status})").code == status

    def test_arguments_and_input_pass_through(self, room: Room) -> None:
        given = ("a b", "ü\n'\"$x`", "", "--")

        ended = room.inside("import sys; print(sys.argv[1:], sys.stdin.read())", *given, stdin="ein Ü".encode())

        assert ended.stdout.read_text() == f"{list(given)} ein Ü\n"

    def test_a_program_has_time_to_end_well(self, room: Room, sandbox: Sandbox) -> None:
        begun = time.monotonic()
        argv = sandbox.wrap(
            ("/bin/sh", "-c", "trap 'echo bye; exit 7' TERM; sleep 60 & wait"), room.policy("none"), PLACE
        )

        ended = process.run(
            argv, cwd=room.workspace, env=room.env, limit_seconds=1, grace_seconds=30, out=room.root / "streams"
        )

        assert (ended.timed_out, ended.stdout.read_text()) == (True, "bye\n")
        assert time.monotonic() - begun < 25

    def test_own_loopback_works_without_a_network(self, room: Room) -> None:
        both = (
            "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
            "client = socket.create_connection(('localhost', server.getsockname()[1]), 5)\n"
            "server.accept()[0].send(b'hello')\nprint(client.recv(9).decode())\n"
        )

        assert said(room.inside(both)) == "hello\n"


def _greet(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        client.sendall(CANARY.encode())
        client.close()
