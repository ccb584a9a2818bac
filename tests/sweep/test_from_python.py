"""`run_sweep` from Python: from any thread, twice in one process, stopped from elsewhere, whatever listeners do."""

from __future__ import annotations

import asyncio
import gc
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness2_core.api import Happened, PluginError, StoreError, executor_engine
from harness2_core.api.engine import cancelled_here
from harness2_core.sweep import events
from harness2_core.sweep.run import run_sweep
from harness2_core.sweep.stop import Stop


def test_it_runs_in_a_thread_that_is_not_the_main_one_and_sets_no_signal_handler(bench: Any) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(bench.run).result(120)

    assert result.exit_code == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_it_runs_twice_in_one_process_at_once_on_two_runs_directories(bench: Any) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(bench.run, runs=bench.root / name) for name in ("one", "two")]

    assert [run.result(120).paid.rollouts for run in runs] == [4, 4]


def test_it_runs_twice_in_one_process_at_once_on_one_runs_directory(bench: Any) -> None:
    """Each has its own view of the store; what one has claimed the other waits for."""
    bench.task("sums/second")
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(bench.run) for _ in range(2))
        results = (first.result(120), second.result(120))

    assert [result.exit_code for result in results] == [0, 0]
    assert sum(result.paid.rollouts for result in results) == 8


def test_it_runs_within_an_event_loop_and_leaves_that_one_as_it_was(bench: Any) -> None:
    """As in a notebook's cell, where a loop is always running."""

    async def cell() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        here = bench.run().exit_code
        beside = (await asyncio.to_thread(bench.run, runs=bench.root / "beside")).exit_code
        assert asyncio.get_running_loop() is loop
        return here, beside

    assert asyncio.run(cell()) == (0, 0)


def test_nothing_of_the_process_is_changed_while_it_runs_or_after(bench: Any) -> None:
    bench.run(runs=bench.root / "before")  # what is imported on the way is imported now
    seen: list[Any] = [_of_the_process()]
    random.seed(7)
    drawn = random.Random(7).random()

    bench.run(listeners=[lambda event: seen.append(_of_the_process())])
    seen.append(_of_the_process())

    assert len(seen) > 10
    assert all(state == seen[0] for state in seen)
    assert random.random() == drawn


def _of_the_process() -> dict[str, Any]:
    """What everything in a process shares."""
    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "directory": Path.cwd(),
        "path": list(sys.path),
        "logging": (list(root.handlers), root.level, logging.root.manager.disable),
        "warnings": list(warnings.filters),
        "signals": [signal.getsignal(number) for number in signal.Signals if number not in _NOBODYS],
        "hooks": (sys.excepthook, threading.excepthook, sys.stdout, sys.stderr),
        "locale": locale.setlocale(locale.LC_ALL),
        "limits": (socket.getdefaulttimeout(), sys.getrecursionlimit(), sys.getswitchinterval()),
        "mask": [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask")]
        if sys.platform == "linux"
        else [],
        "children": multiprocessing.active_children(),
    }


_NOBODYS = {signal.SIGKILL, signal.SIGSTOP}


def test_files_that_it_opened_are_closed_when_it_returns(bench: Any) -> None:
    bench.run()
    gc.collect()
    before = _open_files()

    bench.run()
    bench.run(runs=bench.root / "another")

    gc.collect()
    assert _open_files() == before


def _open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_no_thread_is_left_when_it_returns(bench: Any) -> None:
    before = set(threading.enumerate())

    bench.run()

    assert set(threading.enumerate()) <= before


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_what_a_killed_run_left_alive_is_ended_before_anything_starts_and_told(bench: Any) -> None:
    home = (bench.runs / "work" / f"{'5' * 64}.aside" / "home").resolve()
    with subprocess.Popen(["sleep", "300"], env={"HOME": str(home)}, start_new_session=True) as left:
        result = bench.run()

        assert result.exit_code == 0
        assert left.wait(60) == -signal.SIGKILL
    assert [line for line in bench.notices if str(left.pid) in line] == [
        f"ended what a run that was killed had left behind: process {left.pid}"
    ]


def test_a_listener_that_raises_is_dropped_with_a_notice_and_the_others_hear_on(bench: Any) -> None:
    heard: list[str] = []

    def broken(event: Happened) -> None:
        raise ValueError("no ear")

    result = bench.run(listeners=[broken, lambda event: heard.append(event.what)])

    assert result.exit_code == 0
    assert heard[-1] == "sweep-ended"
    (notice,) = (note for note in bench.notices if "was dropped" in note)
    assert "ValueError: no ear" in notice


def test_a_listener_that_never_comes_back_holds_nothing_up_and_is_told(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SLOWEST_SECONDS", 0.1)
    heard = threading.Event()

    def stuck(event: Happened) -> None:
        heard.wait(60)

    result = bench.run(listeners=[stuck])

    assert (result.exit_code, result.left) == (0, ())
    assert [note for note in bench.notices if "of the caller has not come back" in note]
    heard.set()


def test_a_listener_that_takes_long_over_one_event_is_dropped_with_a_notice(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SLOWEST_SECONDS", 0.2)
    told: list[str] = []

    def slow(event: Happened) -> None:
        told.append(event.what)
        time.sleep(0.25)

    bench.run(listeners=[slow])

    assert told == ["sweep-started"]
    assert [note for note in bench.notices if "listener of the caller was dropped: it took" in note]


def test_an_error_of_a_notice_is_nobody_s(bench: Any) -> None:
    def deaf(event: Happened) -> None:
        raise ValueError("no ear")

    def broken(text: str) -> None:
        if "was dropped" in text:
            raise OSError("no screen")

    assert run_sweep(bench.config(), listeners=[deaf], notice=broken).exit_code == 0


@pytest.mark.parametrize("level", [1, 2])
def test_a_stop_asked_for_before_starts_nothing(bench: Any, level: int) -> None:
    stop = Stop()
    for _ in range(level):
        stop.ask()

    result = bench.run(stop=stop)

    assert (result.exit_code, result.left, result.paid.nothing) == (130, ("sums/first",), True)
    assert bench.run(stop=Stop()).exit_code == 0


def test_a_stop_asked_for_twice_while_work_runs_ends_it(bench: Any) -> None:
    """The agent would go on for minutes; it is told that it is not wanted any more."""
    bench.plugin("substrate", "endless", ENDLESS, token="en")
    stop = Stop()

    def twice(event: Happened) -> None:
        if event.what == "attempt-started":
            stop.ask()
            stop.ask()

    result = bench.run(stop=stop, listeners=[twice], substrate="endless")

    assert (result.exit_code, result.left, result.paid.rollouts) == (130, ("sums/first",), 0)


def test_a_stop_asked_for_in_another_thread_starts_nothing_more(bench: Any) -> None:
    stop = Stop()
    threading.Thread(target=stop.ask).start()

    result = bench.run(stop=stop)

    assert (result.interrupted, result.exit_code, result.left) == (True, 130, ("sums/first",))
    assert result.paid.rollouts <= 1
    assert bench.run().exit_code == 0


def test_a_task_that_was_not_begun_leaves_no_summary(bench: Any) -> None:
    stop = Stop()
    stop.ask()

    bench.run(stop=stop)

    assert list(bench.runs.rglob("summary.json")) == []


def test_each_invocation_leaves_a_file_of_what_it_did(bench: Any) -> None:
    bench.task("sums/second")
    bench.run(only_tasks="sums/first")
    bench.run()

    assert len(list((bench.runs / "adapt" / "_sweeps").glob("small-po-agg1-*.json"))) == 2


def test_an_error_of_the_store_ends_it_only_when_paid_work_was_seen_out(bench: Any) -> None:
    """One task's view cannot be recorded while the others' bases run: these are paid for, and are kept."""
    for name in ("b", "c", "d"):
        bench.task(f"{name}/one")
    bench.plugin("store", "failing", FAILING)
    bench.set(store="failing")

    with pytest.raises(StoreError, match="the disk is full"):
        bench.run()

    store = bench.store()
    attempts = [key for key, _ in store.scan("attempt")]
    assert sum(key.endswith("/started") for key in attempts) == sum(key.endswith("/ended") for key in attempts)


def test_after_an_error_every_claim_is_given_back(bench: Any) -> None:
    bench.plugin("store", "failing", FAILING)
    bench.set(store="failing")
    with pytest.raises(StoreError):
        bench.run()

    assert list((bench.runs / "store" / "claims").iterdir()) == []


ENGINE = """
    from concurrent.futures import ThreadPoolExecutor

    from harness2_core.api import executor_engine

    class Made:
        def __init__(self):
            self._engine = executor_engine(ThreadPoolExecutor(4))

        def submit(self, call, work):
            return self._call("submit", call, work)

        def wait(self, seconds):
            return self._call("wait", seconds)

        def now(self):
            return self._call("now")

        def cancel(self, request):
            self._engine.cancel(request)

        def close(self):
            self._engine.close()

        def _call(self, name, *arguments):
            if name == BREAKS:
                raise OSError("the cluster is gone")
            return getattr(self._engine, name)(*arguments)
"""


@pytest.mark.parametrize("method", ["submit", "wait", "now"])
def test_an_engine_that_breaks_is_named_and_the_next_run_goes_on(bench: Any, method: str) -> None:
    bench.plugin("engine", "cluster", ENGINE.replace("BREAKS", repr(method)))

    with pytest.raises(PluginError, match=rf"cluster.*`{method}` raised OSError: the cluster is gone"):
        bench.run(**{"run.engine": "cluster"})

    assert list((bench.runs / "store" / "claims").glob("*")) == []
    assert bench.run().exit_code == 0


def test_an_engine_that_reports_work_twice_does_no_harm(bench: Any) -> None:
    class Twice:
        def __init__(self) -> None:
            self._engine = executor_engine(ThreadPoolExecutor(2))
            self.submit, self.now = self._engine.submit, self._engine.now
            self.cancel, self.close = self._engine.cancel, self._engine.close

        def wait(self, seconds: float | None) -> Any:
            return [*(done := self._engine.wait(seconds)), *done]

    assert bench.run(engine=Twice()).exit_code == 0


def test_work_that_was_ended_is_done_anew_by_the_next_sweep_of_the_process(bench: Any) -> None:
    """What says that a request is not wanted any more does not outlive the run that said it."""
    stop = Stop()
    stop.level = 2
    bench.run(stop=stop)

    assert bench.run(engine=executor_engine(ThreadPoolExecutor(2))).exit_code == 0
    assert cancelled_here == set()


FAILING = """
    from harness2_core.api import StoreError
    from harness2_stores.filesystem import FilesystemStore

    class Made:
        def __init__(self, runs):
            self._store = FilesystemStore(runs / "store")

        def __getattr__(self, name):
            return getattr(self._store, name)

        put_blob = has_blob = open_blob = get = scan = delete = claim = None

        def put(self, kind, key, value):
            if kind == "view":
                raise StoreError("the disk is full", "make room")
            return self._store.put(kind, key, value)

    for name in ("put_blob", "has_blob", "open_blob", "get", "scan", "delete", "claim"):
        setattr(Made, name, property(lambda self, name=name: getattr(self._store, name)))
"""


ENDLESS = """
    import time

    from harness2_core.api import Allowed, Surface, Trajectory

    class Made:
        surface = Surface("endless", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def run(self, tree, prompt, channel, workspace, ctx):
            until = time.monotonic() + 100
            while not ctx.cancelled() and time.monotonic() < until:
                time.sleep(0.01)
            return Trajectory(())
"""
