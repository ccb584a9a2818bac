"""`executor_engine`: an engine from any executor, also one whose processes die."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from attrs import evolve

from harness2_core.api import Assignment, Ended, Engine, executor_engine, request_digest
from harness2_core.api.engine import cancelled_here, is_cancelled, outcome_of
from harness2_core.testing.engine_contract import EngineContract
from harness2_core.testing.engine_work import assignment, die, finish


class TestThreads(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return executor_engine(ThreadPoolExecutor(2))


@pytest.mark.process
class TestProcesses(EngineContract):
    cancels_running = False  # no `cancel` that reaches other processes is given
    apart = True

    @pytest.fixture
    def engine(self) -> Engine:
        return executor_engine(ProcessPoolExecutor(1, mp_context=get_context("spawn")))

    def test_a_dead_worker_is_a_loss_and_so_is_work_given_to_its_pool_afterwards(self, engine: Engine) -> None:
        work = assignment("killed")
        digest = request_digest(work.requests[0])
        killed = engine.submit(die, work)
        assert list(engine.wait(60)) == [killed]

        after = engine.submit(finish, assignment("after"))

        assert list(engine.wait(60)) == [after]
        for future in (killed, after):
            (lost,) = outcome_of(future, [digest])
            assert (lost.final, lost.cause) == (False, "worker")
            assert "the worker died: BrokenProcessPool" in lost.note


class Held(Executor):
    """Starts nothing until it is told to."""

    def __init__(self) -> None:
        self.futures: list[Future[object]] = []

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        future: Future[object] = Future()
        self.futures.append(future)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for future in self.futures:
            future.cancel()


def test_a_batch_that_waits_is_cancelled_only_when_none_of_its_draws_is_wanted() -> None:
    engine = executor_engine(Held())
    batch = assignment("a", "b")
    first, second = map(request_digest, batch.requests)
    future = engine.submit(finish, batch)

    engine.cancel(first)
    assert not future.done()
    assert cancelled_here == {(batch.runs, first)}

    engine.cancel(second)
    assert future.cancelled()
    assert list(engine.wait(0)) == [future]
    assert cancelled_here == set()


def test_work_that_runs_is_ended_by_the_given_cancel() -> None:
    asked: list[str] = []
    executor = Held()
    engine = executor_engine(executor, cancel=asked.append)
    work = assignment("a")
    engine.submit(finish, work)
    executor.futures[0].set_running_or_notify_cancel()

    engine.cancel(request_digest(work.requests[0]))

    assert asked == [request_digest(work.requests[0])]
    assert cancelled_here == set()


def test_a_mark_that_comes_as_the_work_ends_does_not_hit_the_next_attempt() -> None:
    engine = executor_engine(ThreadPoolExecutor(1))
    started, release = threading.Event(), threading.Event()

    def run(work: Assignment) -> tuple[Ended, ...]:
        started.set()
        release.wait(30)
        return finish(work)

    work = assignment("a")
    digest = request_digest(work.requests[0])
    future = engine.submit(run, work)
    assert started.wait(30)
    engine.cancel(digest)
    assert cancelled_here == {(work.runs, digest)}
    release.set()
    future.result(timeout=30)

    assert list(engine.wait(30)) == [future]
    assert cancelled_here == set()
    engine.close()


def test_what_one_sweep_cancels_goes_on_for_another_that_asked_for_the_same() -> None:
    """In one process, with a runs directory each: a request's digest is the same, its work is not."""
    started, one, other = threading.Barrier(3), assignment("a"), evolve(assignment("a"), runs="others")
    digest = request_digest(one.requests[0])
    release = threading.Event()

    def run(work: Assignment) -> tuple[Ended, ...]:
        started.wait(30)
        release.wait(30)
        return (Ended(digest, not is_cancelled(work, digest)),)

    first, second = executor_engine(ThreadPoolExecutor(1)), executor_engine(ThreadPoolExecutor(1))
    cancelled, wanted = first.submit(run, one), second.submit(run, other)
    started.wait(30)
    first.cancel(digest)
    release.set()

    assert not cancelled.result(30)[0].final
    assert wanted.result(30)[0].final
    first.close()
    second.close()


def test_closing_leaves_no_marks() -> None:
    engine = executor_engine(ThreadPoolExecutor(1))
    started = threading.Event()
    work = assignment("a")
    digest = request_digest(work.requests[0])

    def run(work: Assignment) -> tuple[Ended, ...]:
        started.set()
        for _ in range(3_000):
            if is_cancelled(work, digest):
                return ()
            threading.Event().wait(0.01)
        raise AssertionError("closing did not cancel what runs")

    future = engine.submit(run, work)
    assert started.wait(30)
    engine.close()

    assert future.result() == ()
    assert cancelled_here == set()


def _ended(*items: Ended) -> Future[tuple[Ended, ...]]:
    future: Future[tuple[Ended, ...]] = Future()
    future.set_result(items)
    return future


def test_each_request_has_one_outcome_whatever_the_worker_says() -> None:
    a, b, c = "a" * 64, "b" * 64, "c" * 64
    said = _ended(Ended(a, True), Ended(a, False, "worker"), Ended(c, True))

    outcome = outcome_of(said, [a, b])

    assert [(ended.request, ended.final) for ended in outcome] == [(a, True), (b, False)]
    assert outcome[1].note == "the worker left it out"


def test_cancelled_work_is_a_loss_that_says_so() -> None:
    future: Future[tuple[Ended, ...]] = Future()
    future.cancel()

    (ended,) = outcome_of(future, ["a" * 64])

    assert (ended.final, ended.note) == (False, "the engine cancelled it")
