"""Real agents in the real sandbox try to get out, by their own shell: what is tried is in `tries.py`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from harness2_core.testing import PlayedModel

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

TRIES: Final = Path(__file__).with_name("tries.py")
INSIDE_ONLY: Final = (  # there is nothing to reach, or it would do harm
    "write_to_the_system",
    "raw_memory_and_disks",
    "remount",
    "socket_of_docker",
    "metadata_of_the_cloud",
    "names",
    "name_server",
    "addresses_of_the_host",
    "relay_asked_for_another_path",
    "relay_asked_for_another_host",
    "relay_asked_without_a_key",
    "kill_the_first_process",
    "kill_who_started_this",
    "trace_the_first_process",
    "daemon",
)
ANYWHERE: Final = (
    "rubric_by_its_path",
    "rubric_by_dots",
    "rubric_by_a_link",
    "rubric_by_a_hard_link",
    "rubric_by_the_root_of_a_process",
    "rubric_by_the_mounts",
    "workspace_of_another",
    "runs_directory",
    "store",
    "home_of_the_user",
    "system_files",
    "keys_in_the_environment",
    "keys_in_other_environments",
    "command_lines_of_others",
    "socket_of_a_daemon",
    "agent_that_keeps_keys",
    "abstract_socket",
    "another_loopback_service",
    "other_network_devices",
)
MARK: Final = f"daemon-of-the-escape-test-{os.getpid()}"
COMMAND: Final = "python3 $(find . -name tries.py) $(find . -name targets.json); echo 375 > output/sum.txt"


@pytest.fixture
def played(agent: Any) -> PlayedModel:
    return PlayedModel("a rule that nobody tells", agent.always_on, "true", COMMAND)


@pytest.fixture
def targets(stage: Any, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What there is to reach, each shown to be reachable from outside; written into the task's inputs."""
    other = stage.runs / "work" / "other" / "workspace" / "notes.txt"
    other.parent.mkdir(parents=True)
    other.write_text("notes of another rollout")
    with _listening(socket.AF_INET, ("127.0.0.1", 0)) as port, _listening(socket.AF_UNIX, _short(tmp_path)) as path:
        abstract = f"harness2-test-{os.getpid()}-{port[1]}"
        with _listening(socket.AF_UNIX, "\0" + abstract):
            yield {
                "rubric": str(stage.folder / "bills/january/checks/check_sum.py"),
                "other_workspace": str(other),
                "runs": str(stage.runs),
                "home_files": [str(stage.home.home / ".claude/CLAUDE.md"), str(stage.home.home / ".codex/config.toml")],
                "variables": ["GITHUB_TOKEN", stage.key_variable],
                "socket": path,
                "abstract": abstract,
                "port": port[1],
                "hosts": sorted(
                    {item[4][0] for item in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
                ),
                "relay": 11811,
                "elsewhere": f"127.0.0.1:{port[1]}",
                "pid": os.getpid(),
                "mark": MARK,
            }


def test_whatever_an_agent_tries_it_is_held_and_that_is_seen(stage: Any, targets: dict[str, Any]) -> None:
    _written_for(stage, targets, (*ANYWHERE, *INSIDE_ONLY))

    rollout, _ = stage.first_rollout()

    said = _told(stage.text(rollout["transcript"]))
    assert {name: told for name, told in said.items() if not told.startswith("held: ")} == {}
    assert set(said) == {*ANYWHERE, *INSIDE_ONLY}
    assert set(rollout["deliverables"]["entries"]) == {"sum.txt"}  # nobody followed the link that was left
    assert "SyntaxError" not in said["rubric_by_its_path"]
    for name in ("metadata_of_the_cloud", "name_server"):
        assert "unreachable" in said[name], said[name]
    if stage.agent.path:
        assert "status 403" in said["relay_asked_for_another_path"]
    assert "status 401" in said["relay_asked_without_a_key"]
    assert "it lives on" in said["kill_the_first_process"]
    assert "ProcessLookupError" in said["kill_who_started_this"]
    assert _alive(MARK) == []


def test_without_a_sandbox_the_same_program_gets_everywhere(stage: Any, targets: dict[str, Any]) -> None:
    """So it is the sandbox that holds, and not a try that cannot succeed."""
    folder = _written_for(stage, targets, ANYWHERE)
    (stage.runs / "store").mkdir()
    env = {**stage.env, "SSH_AUTH_SOCK": targets["socket"], "A": targets["runs"]}

    ran = subprocess.run(
        [sys.executable, "tries.py", "targets.json", targets["runs"]],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )

    said = _told(ran.stdout)
    assert set(said) == set(ANYWHERE)
    assert {name: told for name, told in said.items() if not told.startswith("OUT: ")} == {}


def _written_for(stage: Any, targets: dict[str, Any], tries: tuple[str, ...]) -> Path:
    folder: Path = stage.folder / "bills/january/inputs"
    shutil.copy(TRIES, folder)
    (folder / "targets.json").write_text(json.dumps({**targets, "tries": tries}))
    stage.env["SSH_AUTH_SOCK"] = targets["socket"]
    return folder


def _told(text: str) -> dict[str, str]:
    """Of a transcript or an output: try -> what became of it."""
    names = "|".join((*ANYWHERE, *INSIDE_ONLY))
    return dict(re.findall(rf"^\s*({names}) ((?:OUT|held): .*)$", text, re.MULTILINE))


@contextlib.contextmanager
def _listening(family: int, address: Any) -> Iterator[Any]:
    """A service that takes connections and says who it is."""
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen(16)
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        yield server.getsockname()


def _serve(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client, contextlib.suppress(OSError):
            client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nELSEWHERE")


def _short(tmp_path: Path) -> str:
    """A path that a unix socket has room for."""
    path = str(tmp_path / "keys")
    return path if len(path) < 100 else os.path.relpath(path)


def _alive(mark: str) -> list[str]:
    """Command lines of processes with `mark`, zombies apart."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in (data := path.read_bytes()):
                found.append(data.replace(b"\0", b" ").decode())
    return found
