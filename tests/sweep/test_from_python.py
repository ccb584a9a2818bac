"""`run_sweep` from Python: from any thread, twice in one process, stopped from elsewhere, whatever listeners do."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness2_core.api import Happened, StoreError, executor_engine
from harness2_core.api.engine import cancelled_here
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
