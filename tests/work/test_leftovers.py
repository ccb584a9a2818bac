"""What a supervisor that was killed could not end is ended: by its worker at once, else by the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness2_core.api import digest_bytes
from harness2_core.testing import MemoryStore, WorkRoom
from harness2_core.work.leftovers import end_left_over, end_unclaimed, left_over
from harness2_core.work.site import close_site, open_site

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc"),
]

ONE, OTHER = digest_bytes(b"one"), digest_bytes(b"other")
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def start(runs: Path) -> Iterator[Start]:
    """Starts a program as an agent of a request would run it: in a session of its own, its home at the site."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(request: str, program: str = "exec sleep 300", variable: str = "HOME") -> subprocess.Popen[bytes]:
        environment = {"PATH": os.defpath, variable: str(runs.resolve() / "work" / f"{request}.aside" / "home")}
        started.append(subprocess.Popen(["/bin/sh", "-c", program], env=environment, start_new_session=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        return process.wait(20) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        return False


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_descendant_that_left_its_session_ends_although_its_supervisor_was_killed(
    room: WorkRoom, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    (ended_,) = room.perform(
        room.rollout_request(
            "import os, signal, subprocess, sys, time\n"
            "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)\n"
            f"open({str(pid)!r}, 'w').write(str(left.pid))\n"
            "os.kill(os.getppid(), signal.SIGKILL)\n"
            "time.sleep(300)\n"
        )
    )
    assert (ended_.final, ended_.cause) == (False, "worker")
    until(lambda: not _alive(int(pid.read_text())))
    assert list((room.runs / "work").iterdir()) == []


def test_what_an_attempt_that_was_killed_left_is_ended_when_the_request_is_tried_again(
    runs: Path, start: Start
) -> None:
    site = open_site(runs, ONE)
    mine, others = start(ONE), start(OTHER)
    until(lambda: set(left_over(runs)) == {mine.pid, others.pid})

    site = open_site(runs, ONE)

    assert ended(mine)
    assert others.poll() is None
    close_site(site)


def test_what_nobody_works_on_is_ended_at_a_start_and_claimed_work_is_spared(runs: Path, start: Start) -> None:
    store = MemoryStore()
    orphan, worked_on = start(ONE, variable="TMPDIR"), start(OTHER)
    until(lambda: set(left_over(runs)) == {orphan.pid, worked_on.pid})

    with store.claim(OTHER):
        found = end_unclaimed(runs, store)

    assert found == [orphan.pid]
    assert ended(orphan)
    assert worked_on.poll() is None


def test_those_that_replace_their_dead_are_ended_too(runs: Path, start: Start) -> None:
    start(ONE, "while true; do sleep 0.01 & sleep 0.02; done")
    start(ONE, "work() { while true; do (sleep 0.05; exit) & wait; done; }; work & work & wait")
    until(lambda: len(left_over(runs)) >= 3)

    end_left_over(runs, ONE)

    assert left_over(runs) == {}


def test_homes_elsewhere_and_requests_that_are_none_are_left_alone(runs: Path, start: Start, tmp_path: Path) -> None:
    (runs / "work").mkdir(parents=True)
    near = [start("f" * 63), start(f"{ONE}0"), start(f"../elsewhere/{ONE}")]
    with subprocess.Popen(["sleep", "300"], env={"PATH": os.defpath, "HOME": str(runs / "work")}) as bystander:
        time.sleep(0.2)
        assert left_over(runs) == {}
        assert end_unclaimed(runs, MemoryStore()) == []
        assert all(process.poll() is None for process in (*near, bystander))
        bystander.kill()


def test_another_runs_directory_is_nobodys_business(runs: Path, start: Start, tmp_path: Path) -> None:
    process = start(ONE)
    until(lambda: left_over(runs))

    assert end_unclaimed(tmp_path / "others", MemoryStore()) == []
    assert process.poll() is None


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
