"""A real agent against a scripted model, in a namespace without any network: for tests of substrates.

    room = OfflineRoom(tmp_path)
    ran = room.run(MyAgent(), Turn("Done."), tree=TREE, prompt="Do it.", channel=Channel(model="a-model"))
    assert "what AGENTS.md says" in ran.first

All the agent can reach is one port of a loopback of its own, from which a bridge leads to the `ModelServer`. Whatever
else it tries to reach on its way, tests show that it does without. Needs `bwrap`; `why_not` says what is missing.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from harness2_core.api import Channel, Endpoint, Exit, HarnessTree, Install, Substrate, Trajectory

from .fake_context import FakeContext
from .model_server import ModelServer
from .model_turns import Asked, Turn

PORT: Final = 18811
KEY: Final = "canary-key-of-one-run-c2d1"
_APART: Final = ("--unshare-net", "--unshare-pid", "--die-with-parent")
_INSIDE: Final = """
import socket, subprocess, sys, threading
path, port, *command = sys.argv[1:]
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for end in (a, b):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve():
    while True:
        here, _ = server.accept()
        there = socket.socket(socket.AF_UNIX)
        there.connect(path)
        for pair in ((here, there), (there, here)):
            threading.Thread(target=pump, args=pair, daemon=True).start()
server = socket.create_server(("127.0.0.1", int(port)), backlog=64)
threading.Thread(target=serve, daemon=True).start()
sys.exit(subprocess.run(command, stdin=sys.stdin).returncode)
"""


@frozen
class Ran:
    """What came of one run."""

    exit: Exit
    trajectory: Trajectory
    asked: tuple[Asked, ...]
    """What the model server was asked, in order."""
    workspace: Path
    stdout: bytes
    stderr: bytes

    @property
    def first(self) -> str:
        """All that the model was sent first, as text."""
        return str(self.asked[0].body)


@frozen
class OfflineRoom:
    """`root` is an empty directory; each run has one of its own in it."""

    root: Path

    def run(
        self,
        agent: Substrate,
        *turns: Turn | Callable[[Asked], Turn],
        tree: HarnessTree,
        channel: Channel,
        prompt: str = "Do the task.",
        inputs: Mapping[str, str] | None = None,
        limit_seconds: int = 600,
        name: str = "run",
        base: str = "/v1",
        url: str = "",
    ) -> Ran:
        """One rollout, from a tree to a trajectory. `inputs` are the task's files.

        `base` is the endpoint's path; `url` stands in place of its whole address, for one that cannot be reached.
        """
        workspace = self.root / name / "workspace"
        workspace.mkdir(parents=True)
        for path, text in (inputs or {}).items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_text(text, encoding="utf-8")
        with ModelServer(*turns, key=KEY) as server, _way_out(self.root / name / "out", server) as way_out:
            context = _Offline(self.root / name / "context", way_out)
            endpoint = Endpoint(url or f"http://127.0.0.1:{PORT}{base}", KEY)
            install = agent.install(tree, prompt, channel, context.place(workspace), endpoint)
            ended = context.spawn(install, workspace, limit_seconds)
            stdout, stderr = ended.stdout.read_bytes(), ended.stderr.read_bytes()
            trajectory = agent.parse([stdout], [stderr], ended)
            return Ran(ended, trajectory, server.asked, workspace, stdout, stderr)


def why_not() -> str:
    """Why no room of this kind can be had here, in words; empty when it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not installed"
    tried = subprocess.run(["bwrap", "--ro-bind", "/", "/", *_APART, "true"], check=False, capture_output=True)
    return f"bubblewrap does not work here: {tried.stderr.decode(errors='replace')}" if tried.returncode else ""


class _Offline(FakeContext):
    def __init__(self, root: Path, way_out: Path) -> None:
        super().__init__(root)
        self._way_out = way_out

    def spawn(self, install: Install, cwd: Path, limit_seconds: int) -> Exit:
        shown = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
        written = tuple(part for path in (self._root, cwd) for part in ("--bind", str(path), str(path)))
        bridge = (sys.executable, "-I", "-c", _INSIDE, str(self._way_out), str(PORT))
        argv = ("bwrap", *shown, *written, *_APART, "--chdir", str(cwd), "--", *bridge, *install.argv)
        return super().spawn(evolve(install, argv=argv), cwd, limit_seconds)


@contextmanager
def _way_out(path: Path, server: ModelServer) -> Iterator[Path]:
    """A unix socket that leads to the model server."""
    port = int(server.url.rpartition(":")[2])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(64)
        threading.Thread(target=_serve, args=(listening, port), daemon=True).start()
        try:
            yield path
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # what waits in `accept` would wait on after a mere close


def _serve(listening: socket.socket, port: int) -> None:
    while True:
        try:
            here, _ = listening.accept()
        except OSError:
            return  # closed: the run is over
        with suppress(OSError):
            there = socket.create_connection(("127.0.0.1", port))
            for ends in ((here, there), (there, here)):
                threading.Thread(target=_pump, args=ends, daemon=True).start()


def _pump(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            to.sendall(data)
    for end in (source, to):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
