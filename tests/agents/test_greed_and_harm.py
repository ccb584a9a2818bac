"""What an agent may do to the machine and to the run by what it starts: it is bounded, ended, and told in the record.

Only the quickest agent is tried, unless the variable `HARNESS2_TEST_EVERY_AGENT` is set: what holds here are supervisor
and relay, whatever the agent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from harness2_core.testing import PlayedModel, Turn
from harness2_core.testing.family import Family
from harness2_core.testing.model_turns import Asked
from harness2_core.testing.played_model import shell_call

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

QUICKEST: Final = "codex"
FORKING: Final = """
import os, signal, time
born = []
try:
    for number in range(600):
        born.append(os.fork())
        if not born[-1]:
            time.sleep(60)
            os._exit(0)
    print("on " * 3, flush=True)
except OSError as error:
    print("no more:", error.strerror, flush=True)
for child in born:
    os.kill(child, signal.SIGKILL)
"""
FILLING: Final = """
import os, time
piece = bytes(1 << 20)
try:
    with open("output/one", "wb") as file:
        for number in range(100):
            file.write(piece)
except OSError as error:
    print("one file:", error.strerror, flush=True)
for number in range(40):
    with open(f"output/{number}", "wb") as file:
        file.write(piece * 10)
    time.sleep(0.1)
print("on " * 3)
"""
KILLING: Final = """
import glob, os, signal
for path in glob.glob("/proc/[0-9]*/cmdline"):
    if b"bridge.py" in open(path, "rb").read() and path.split("/")[2] != "1":
        os.kill(int(path.split("/")[2]), signal.SIGKILL)
"""
TOKEN: Final = """
import glob, re
def data(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
found = re.search(rb"run-[A-Za-z0-9_-]{30,}", b" ".join(map(data, glob.glob("/proc/[0-9]*/environ"))))
token = found.group().decode()
"""
USING: Final = """
import http.client
for name, key in (("old", OLD), ("own", token)):
    client = http.client.HTTPConnection("127.0.0.1", 11811)
    client.request("GET", "/v1/models", headers={"Authorization": "Bearer " + key})
    print(name, "status", client.getresponse().status)
"""


@pytest.fixture
def agent(agent: Any) -> Any:
    if agent.name != QUICKEST and not os.environ.get("HARNESS2_TEST_EVERY_AGENT"):
        pytest.skip(f"{agent.name} is tried where HARNESS2_TEST_EVERY_AGENT is set")
    return agent


def test_an_agent_that_forks_without_end_is_ended(stage: Any, played: PlayedModel) -> None:
    stage.configure(processes=200)
    stage.server.otherwise = _running(played, FORKING)

    with Family() as family:
        rollout, _ = stage.first_rollout()

    assert family.left == []
    told = stage.text(rollout["transcript"]) + str(rollout)
    assert "on on on" not in told
    assert "over its limit of processes" in told or "Resource temporarily unavailable" in told


def test_an_agent_that_fills_the_disk_is_ended(stage: Any, played: PlayedModel) -> None:
    stage.configure(disk_mb=64)
    stage.server.otherwise = _running(played, FILLING)

    rollout, _ = stage.first_rollout()

    told = stage.text(rollout["transcript"]) + str(rollout)
    assert rollout["outcome"] == "crashed"
    assert "over its limit of disk" in told
    assert "on on on" not in told


def test_an_agent_that_kills_its_own_way_to_the_model_loses_its_run_and_no_other(
    stage: Any, played: PlayedModel
) -> None:
    first = [KILLING]

    def model(asked: Asked) -> Turn:
        if played.part(asked) == "executor" and not asked.results and first:
            return _call(asked, first.pop())
        return played(asked)

    stage.server.otherwise = model

    rollout, err = stage.first_rollout()

    assert "an attempt was lost (network)" in err
    assert rollout["outcome"] == "finished"  # of the attempt after that


def test_a_key_of_a_run_that_has_ended_opens_nothing(stage: Any, played: PlayedModel) -> None:
    """The model remembers it, past all masking, and tells the next agent."""
    tokens: list[str] = []

    def model(asked: Asked) -> Turn:
        part = played.part(asked)
        if part == "executor" and not asked.results:
            return _call(asked, TOKEN + "print('TOKEN', token[::-1])")
        if part == "executor":
            tokens.append(asked.results[0].rpartition("TOKEN ")[2].split()[0][::-1])
        if part == "editor" and not asked.results:
            return _call(asked, f"{TOKEN}OLD = {tokens[0]!r}\n{USING}")
        return Turn("The work is done. <notes>none</notes>")

    stage.server.otherwise = model
    process = stage.start("run", "--plain")
    said: tuple[str, ...] = ()
    while process.poll() is None and not said:
        time.sleep(0.1)
        said = tuple(text for asked in stage.server.asked if played.part(asked) == "editor" for text in asked.results)
    process.terminate()
    _, err = process.communicate(timeout=60)

    assert "old status 401" in said[0], err
    assert "own status 200" in said[0]


def _call(asked: Asked, program: str) -> Turn:
    """Runs `program` by the agent's own tool for commands."""
    shell = next(name for name in asked.tools if name in ("bash", "Bash", "exec_command"))
    return Turn("I begin.", (shell_call(shell, f"mkdir -p output; python3 - <<'END'\n{program}\nEND"),))


def _running(played: PlayedModel, program: str) -> Callable[[Asked], Turn]:
    """A model whose executors run this."""

    def model(asked: Asked) -> Turn:
        begins = played.part(asked) == "executor" and not asked.results
        return _call(asked, program) if begins else played(asked)

    return model
