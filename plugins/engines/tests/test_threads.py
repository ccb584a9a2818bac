"""The threads engine keeps the engine contract."""

from __future__ import annotations

import threading

import pytest
from harness2_engines.settings import ThreadsSettings
from harness2_engines.threads import threads_engine

from harness2_core.api import Assignment, Ended, Engine, InvalidValue, request_digest
from harness2_core.testing.engine_contract import EngineContract
from harness2_core.testing.engine_work import assignment, finish


class TestThreadsEngine(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return threads_engine(ThreadsSettings())


class TestOneThread(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return threads_engine(ThreadsSettings(workers=1))


def test_by_default_slots_and_not_threads_bound_what_runs() -> None:
    engine = threads_engine(ThreadsSettings())
    together = threading.Barrier(48)

    def meet(work: Assignment) -> tuple[Ended, ...]:
        together.wait(timeout=30)
        return finish(work)

    futures = [engine.submit(meet, assignment(f"t{number}")) for number in range(48)]

    assert all(future.result(timeout=60)[0].final for future in futures)
    engine.close()


def test_no_more_run_at_once_than_there_are_workers() -> None:
    engine = threads_engine(ThreadsSettings(workers=2))
    threads = set()

    def note(work: Assignment) -> tuple[Ended, ...]:
        threads.add(threading.current_thread().name)
        return finish(work)

    for number in range(30):
        engine.submit(note, assignment(f"t{number}"))
    engine.close()

    assert 1 <= len(threads) <= 2


def test_work_that_waits_for_a_thread_is_cancelled_without_running() -> None:
    engine = threads_engine(ThreadsSettings(workers=1))
    release = threading.Event()
    ran: list[str] = []

    def run(work: Assignment) -> tuple[Ended, ...]:
        ran.append(work.requests[0].task)
        release.wait(30)
        return finish(work)

    engine.submit(run, assignment("first"))
    waiting = engine.submit(run, assignment("second"))
    engine.cancel(request_digest(assignment("second").requests[0]))

    assert list(engine.wait(30)) == [waiting]
    assert waiting.cancelled()
    release.set()
    engine.close()
    assert ran == ["first"]


def test_fewer_than_no_workers_are_refused() -> None:
    with pytest.raises(InvalidValue, match="workers"):
        ThreadsSettings(workers=-1)
