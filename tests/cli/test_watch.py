"""`harness2 watch`: which sweep of a log it follows, when it ends, and with which exit code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Happened
from harness2_core.cli import watch as watching
from harness2_core.cli.live.following import Sweeps
from harness2_core.model.canonical import canonical
from harness2_core.model.serial import plain
from harness2_core.sweep.event_log import hold

PATIENCE_SECONDS: Final = 60


def event(what: str, sweep: str, **facts: str) -> Happened:
    return Happened(what, "2026-01-01T00:00:00Z", facts=facts, sweep=sweep)


def taken(*events: Happened) -> Sweeps:
    sweeps = Sweeps()
    for one in events:
        sweeps.take(one)
    return sweeps


def started(sweep: str) -> Happened:
    return event("sweep-started", sweep, namespace=sweep, steps="3")


def ended(sweep: str, code: str = "0") -> Happened:
    return event("sweep-ended", sweep, exit=code)


def test_the_sweep_that_began_last_is_shown() -> None:
    sweeps = taken(started("a"), ended("a"), started("b"), event("step-ended", "b"))
    state = sweeps.turn_to(True)

    assert state is not None
    assert (state.namespace, state.steps_done) == ("b", 1)
    assert sweeps.turn_to(True) is None  # it is shown already


def test_when_it_has_ended_another_one_that_goes_on_is_shown() -> None:
    sweeps = taken(started("a"), started("b"))
    sweeps.turn_to(True)
    sweeps.take(event("step-ended", "a"))
    sweeps.take(ended("b"))
    state = sweeps.turn_to(True)

    assert state is not None
    assert state.namespace == "a"


def test_a_sweep_that_was_killed_long_ago_is_never_shown_as_running() -> None:
    sweeps = taken(started("killed"), started("b"))
    shown = sweeps.turn_to(True)
    sweeps.take(ended("b", "2"))

    assert shown is not None
    assert sweeps.turn_to(True) is None  # whoever holds the log is about to let go
    assert sweeps.over(True)
    assert sweeps.last().exit == 2


def test_a_shown_sweep_whose_process_is_gone_is_over_without_an_exit_code() -> None:
    sweeps = taken(started("a"))
    sweeps.turn_to(True)

    assert sweeps.over(False)
    assert (sweeps.last().namespace, sweeps.last().exit) == ("a", None)


def test_a_log_that_is_held_and_still_empty_is_not_over() -> None:
    assert not Sweeps().over(True)
    assert Sweeps().over(False)
    assert not Sweeps().last().doing


def test_where_nobody_can_tell_who_runs_the_log_alone_decides() -> None:
    assert taken(started("a")).turn_to(None) is not None
    assert taken(started("a"), ended("a")).over(None)


def test_events_of_a_sweep_whose_beginning_was_cut_off_are_not_kept() -> None:
    assert taken(event("step-ended", "a"), ended("a")).last().steps_done == 0


@given(
    st.lists(st.builds(event, st.sampled_from(["sweep-started", "step-ended", "sweep-ended"]), st.sampled_from("abc")))
)
def test_each_sweep_counts_its_own_events(events: list[Happened]) -> None:
    sweeps = taken(*events)
    for name, state in sweeps.running.items():
        mine = [one.what for one in events if one.sweep == name]
        since = mine[len(mine) - mine[::-1].index("sweep-started") :]
        assert state.steps_done == since.count("step-ended")


class Log:
    """The log of an experiment that has begun, and `harness2 watch` beside it on a thread."""

    def __init__(self, typed: Callable[..., Any], bench: Any) -> None:
        bench.run()
        self._typed = typed
        self.path: Path = next((bench.runs / "adapt").glob("*/events.jsonl"))
        self.runs: Path = bench.runs

    def add(self, *events: Happened) -> None:
        with self.path.open("ab") as log:
            for one in events:
                log.write(canonical(plain(one)) + b"\n")


@pytest.fixture
def log(typed: Callable[..., Any], bench: Any) -> Log:
    return Log(typed, bench)


WATCH: Final = "from harness2_core.cli.main import main; main()"


def watch(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WATCH, "watch", "--plain", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str], holding: str) -> str:
    """The next line of its errors that holds a text."""
    assert process.stderr is not None
    while text := process.stderr.readline():
        if holding in text:
            return text
    raise AssertionError(f"it ended with {process.wait()} and never said {holding!r}")


@pytest.mark.process
def test_it_waits_while_nothing_runs_and_then_tells_only_of_what_began(log: Log) -> None:
    process = watch("--runs", str(log.runs))
    waiting = line(process, "waiting")
    log.add(started("new"), Happened("step-ended", "", task="sums/x", kind="finish", sweep="new"), ended("new", "2"))
    out, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert "nothing runs in" in waiting
    assert process.returncode == 2
    assert "new: the run has ended with exit code 2" in out
    assert "sums/first" not in err


@pytest.mark.process
def test_it_follows_a_run_from_its_middle_to_its_end(log: Log) -> None:
    log.add(started("new"), event("step-ended", "new"))
    with FileIO(log.path, "a") as held:
        hold(held)
        process = watch("--runs", str(log.runs))
        joined = line(process, "new: ")
        log.add(Happened("step-ended", "", task="sums/x", kind="finish", sweep="new"))
        finished = line(process, "sums/x")
        log.add(ended("new"))
        process.communicate(timeout=PATIENCE_SECONDS)

    assert "0 of 0 tasks done" in joined
    assert finished == "sums/x: finished\n"
    assert process.returncode == 0


@pytest.mark.process
def test_a_run_that_was_killed_is_told_and_is_not_done(log: Log) -> None:
    log.add(started("new"))
    with FileIO(log.path, "a") as held:
        hold(held)
        process = watch("--runs", str(log.runs))
        line(process, "new: ")
    _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert "was killed, or an error ended it" in err
    assert process.returncode == 1


@pytest.mark.process
def test_it_waits_where_no_experiment_is_yet(tmp_path: Path) -> None:
    process = watch("--runs", str(tmp_path / "none"))
    line(process, "waiting")
    process.send_signal(2)
    process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 130


def test_an_experiment_that_is_not_there_is_an_error_that_names_the_nearest(
    log: Log, typed: Callable[..., Any]
) -> None:
    said = typed("watch", "--ns", "smal-po-agg1")

    assert said.code == 1
    assert "did you mean 'small-po-agg1'" in said.err


def test_any_mode_of_an_experiment_names_it(
    log: Log, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_follow", lambda path, view, stop: taken(started("x"), ended("x", "3")).last())
    monkeypatch.setattr(watching, "held", lambda path: True)

    said = typed("watch", "--ns", "small-po-seq1")

    assert said.code == 3
    assert "watching small-po-agg1" in said.err
