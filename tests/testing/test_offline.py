"""The room of real agents: one model is all that can be reached from it."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness2_core.api import (
    Assistant,
    Channel,
    Endpoint,
    Exit,
    FrozenMap,
    HarnessTree,
    Install,
    Place,
    Surface,
    Trajectory,
)
from harness2_core.testing import ToyAgent, Turn
from harness2_core.testing.offline import OfflineRoom, why_not

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
]
TREE = HarnessTree({"AGENTS.md": "Work.\n"})
ASKS = """
import json, os, socket, sys, urllib.request
said = {"inputs": open("inputs/a.txt").read(), "prompt": sys.stdin.read()}
key = {"authorization": "Bearer " + os.environ["KEY"]}
asked = urllib.request.Request(sys.argv[1] + "/chat/completions", b'{"model": "m"}', key)
said["model"] = json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"]
try:
    socket.create_connection((sys.argv[2], int(sys.argv[3])), timeout=2)
    said["reached"] = True
except OSError:
    said["reached"] = False
print(json.dumps(said))
sys.exit(3)
"""


class Asking:
    """Asks the model once, then knocks at a port of this machine."""

    def __init__(self, port: int) -> None:
        self._port = port

    @property
    def surface(self) -> Surface:
        return ToyAgent().surface

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        argv = (sys.executable, "-c", ASKS, endpoint.url, "127.0.0.1", str(self._port))
        return Install(FrozenMap(), FrozenMap(), argv, FrozenMap({"KEY": endpoint.key}), stdin=prompt.encode())

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        return Trajectory((Assistant(b"".join(stdout).decode()),))


def test_an_agent_reaches_the_model_and_nothing_of_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bystander:
        agent = Asking(bystander.getsockname()[1])
        ran = OfflineRoom(tmp_path).run(
            agent, Turn("Hello."), tree=TREE, channel=Channel(), prompt="Go.", inputs={"inputs/a.txt": "given"}
        )
    assert json.loads(ran.stdout) == {"inputs": "given", "prompt": "Go.", "model": "Hello.", "reached": False}
    assert ran.exit.code == 3
    assert ran.asked[0].model == "m"
    assert ran.trajectory.events == (Assistant(ran.stdout.decode()),)
