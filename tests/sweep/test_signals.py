"""SIGINT, SIGTERM and SIGKILL, once and twice, while real programs run: who ends, with which code, and what is left.

The harness of these tests is a program that waits, beside a grandchild in a session of its own, until a file is there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

WAITING = """\
import os
import subprocess
import sys
import time
from pathlib import Path

output, gate = Path(os.environ["HARNESS2_OUTPUT"]), Path({gate!r})
output.mkdir(parents=True, exist_ok=True)
if not gate.exists():
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    Path({running!r}, str(os.getpid())).touch()
    while not gate.exists():
        time.sleep(0.05)
    child.kill()
(output / "sum.txt").write_text("7\\n", encoding="utf-8")
"""


class Waiting:
    """A run with two bases that wait at the gate. `run` is the process; `family` all that it had started by then."""

    def __init__(self, program: Any, bench: Any, processes: Any) -> None:
        self.program, self.bench, self.processes = program, bench, processes
        self.gate, self.running = bench.root / "gate", bench.root / "running"
        self.running.mkdir()
        bench.write("base/scripts/solve.py", WAITING.format(gate=str(self.gate), running=str(self.running)))
        bench.options |= {"run.substrate": "python", "run.k": "2", "run.engine": "threads"}
        self.run: subprocess.Popen[str]
        self.family: set[tuple[int, str]] = set()

    def start(self) -> None:
        self.run = self.program.start()
        until(lambda: len(list(self.running.iterdir())) == 2 or self.run.poll() is not None)
        assert self.run.poll() is None, self.run.communicate()
        self.family = self.processes.below(self.run.pid)
        assert len(self.family) >= 6  # of each base: supervisor, program, and the program's child

    def signal(self, number: int) -> None:
        """To the process group, as a terminal does it."""
        os.killpg(self.run.pid, number)

    def open(self) -> None:
        self.gate.touch()

    def end(self) -> tuple[int, str]:
        """Exit code, and what it said on standard error."""
        _, errors = self.run.communicate(timeout=60)
        return self.run.returncode, errors


@pytest.fixture
def waiting(program: Any, bench: Any, processes: Any) -> Any:
    made = Waiting(program, bench, processes)
    yield made
    made.open()
    if hasattr(made, "run") and made.run.poll() is None:
        made.run.kill()
        made.run.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_once_nothing_more_starts_and_what_runs_is_seen_out(waiting: Any, number: int, code: int) -> None:
    waiting.start()

    waiting.signal(number)
    time.sleep(0.5)
    waiting.open()
    ended, errors = waiting.end()

    assert ended == code, errors
    assert "nothing more is started" in errors
    assert waiting.program.attempts() == 2  # the bases; no stage after them
    assert len(list(records(waiting, "rollout"))) == 2  # and they were kept
    assert waiting.processes.alive(waiting.family) == set()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_twice_what_runs_is_ended_with_all_its_children(waiting: Any, number: int, code: int) -> None:
    waiting.start()

    waiting.signal(number)
    until(lambda: False, seconds=0.3)
    waiting.signal(number)
    ended, errors = waiting.end()

    assert ended == code, errors
    assert list(records(waiting, "rollout")) == []
    assert waiting.processes.alive(waiting.family) == set()


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_names_the_exit_code(waiting: Any, first: int) -> None:
    second = signal.SIGTERM if first == signal.SIGINT else signal.SIGINT
    waiting.start()

    waiting.signal(first)
    until(lambda: False, seconds=0.3)
    waiting.signal(second)

    assert waiting.end()[0] == 128 + first


def test_a_killed_run_leaves_no_process_behind(waiting: Any) -> None:
    waiting.start()

    waiting.run.kill()
    waiting.run.communicate()

    assert waiting.processes.alive(waiting.family) == set()


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGTERM), (signal.SIGKILL,)],
    ids=["int", "int-int", "term-term", "kill"],
)
def test_however_it_was_ended_the_same_command_ends_with_the_records_of_a_quiet_run(
    waiting: Any, signals: tuple[int, ...]
) -> None:
    waiting.start()
    for number in signals:
        waiting.signal(number)
        until(lambda: False, seconds=0.2)
    waiting.open()
    waiting.end()

    quiet = waiting.bench.root / "quiet"

    assert waiting.program.warm() == 0, waiting.program.output
    assert waiting.program.warm(runs=quiet) == 0, waiting.program.output
    assert waiting.program.records() == waiting.program.records(quiet)


def test_a_signal_while_it_is_set_up_ends_it_before_anything_is_paid(waiting: Any) -> None:
    """The adapter's preflight waits: no scheduler is there yet to be asked."""
    waiting.bench.plugin("selector", "slow", SLOW.format(gate=str(waiting.gate), running=str(waiting.running)))
    waiting.run = waiting.program.start(selector="slow")
    until(lambda: bool(list(waiting.running.iterdir())) or waiting.run.poll() is not None)

    waiting.signal(signal.SIGINT)
    time.sleep(0.2)
    waiting.open()
    ended, errors = waiting.end()

    assert ended == 130, errors
    assert waiting.program.attempts() == 0


def test_a_third_signal_leaves_at_once_whatever_hangs(waiting: Any) -> None:
    waiting.bench.plugin("selector", "slow", SLOW.format(gate=str(waiting.gate), running=str(waiting.running)))
    waiting.run = waiting.program.start(selector="slow")
    until(lambda: bool(list(waiting.running.iterdir())) or waiting.run.poll() is not None)

    for _ in range(3):
        waiting.signal(signal.SIGINT)
        until(lambda: False, seconds=0.3)
    ended, errors = waiting.end()

    assert ended == 130
    assert "the next run goes on from here" in errors


SLOW = """
import time
from pathlib import Path

from harness2_core.api import Choice


class Made:
    def __init__(self):
        Path({running!r}, "setup").touch()
        while not Path({gate!r}).exists():
            time.sleep(0.02)

    def select(self, ballot):
        yield from ()
        return Choice(next(iter(ballot.candidates)))
"""


def records(waiting: Any, kind: str) -> list[Path]:
    return [path for path in (waiting.bench.runs / "store" / "records" / kind).rglob("*") if path.is_file()]


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
