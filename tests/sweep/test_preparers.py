"""The threads that prepare: one while work goes on, more while it is held up, and nothing lost of what they did."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from harness2_core.sweep import preparers
from harness2_core.sweep.preparers import MOST, Finish, Preparers

PATIENCE = 30.0
"""Seconds after which a test that waits has failed."""


def gathered(pool: Preparers, count: int, step: float = 0.02) -> None:
    """Takes results until `count` have come."""
    end = time.monotonic() + PATIENCE
    come = 0
    while come < count:
        assert time.monotonic() < end, f"{come} of {count} came"
        for finish in pool.finished(step):
            come += 1
            finish()


def held_up(until: threading.Event) -> Callable[[], str]:
    def call() -> str:
        assert until.wait(PATIENCE)
        return threading.current_thread().name

    return call


def slept(seconds: float) -> str:
    """A call that takes its time without computing; which thread took it."""
    time.sleep(seconds)
    return threading.current_thread().name


def threads_that_take(calls: int, seconds: float) -> set[str]:
    """Names of those that take so many calls of so many seconds each, which wait together."""
    names: list[str] = []
    with Preparers() as pool:
        for _ in range(calls):
            pool.submit(partial(slept, seconds), names.append)
        gathered(pool, calls, step=PATIENCE)
    return set(names)


def test_calls_are_taken_in_order_by_one_thread_and_handed_over_in_the_callers_own() -> None:
    seen: list[tuple[int, str]] = []
    places: set[str] = set()

    def placed(number: int) -> tuple[int, str]:
        return number, threading.current_thread().name

    def take(result: tuple[int, str]) -> None:
        seen.append(result)
        places.add(threading.current_thread().name)

    with Preparers() as pool:
        for number in range(500):
            pool.submit(partial(placed, number), take)
        gathered(pool, 500, step=PATIENCE)

    assert [number for number, _ in seen] == list(range(500))
    assert len({name for _, name in seen}) == 1
    assert places == {threading.current_thread().name}


def test_another_thread_takes_what_waits_behind_a_call_that_takes_its_time() -> None:
    slow = threading.Event()
    done: list[str] = []

    with Preparers() as pool:
        pool.submit(held_up(slow), done.append)
        for number in range(20):
            pool.submit(partial(str, number), done.append)
        gathered(pool, 20)
        assert sorted(done, key=int) == [str(number) for number in range(20)]
        slow.set()
        gathered(pool, 1)

    assert len(done) == 21


def test_calls_that_wait_for_a_slow_disk_are_taken_by_several_threads_though_each_is_short() -> None:
    assert len(threads_that_take(40, 0.02)) > 1


def test_calls_wait_for_one_thread_while_the_processor_has_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "process_time", time.monotonic)
    assert len(threads_that_take(40, 0.01)) == 1


def test_a_thread_that_helped_goes_though_there_is_always_something_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparers, "STAY_SECONDS", 0.05)
    slow = threading.Event()
    done: list[str] = []
    again = partial(slept, 0.001)

    with Preparers() as pool:
        pool.submit(held_up(slow), done.append)
        for _ in range(20):
            pool.submit(again, done.append)
        gathered(pool, 20)
        slow.set()
        helpers = set(done)
        end = time.monotonic() + PATIENCE
        while any(thread.name in helpers and thread.is_alive() for thread in threading.enumerate()):
            assert time.monotonic() < end
            pool.submit(again, done.append)
            for finish in pool.finished(0.01):
                finish()


def test_there_are_no_more_threads_than_are_of_use_and_they_go_again() -> None:
    slow = threading.Event()
    names: list[str] = []

    with Preparers() as pool:
        for _ in range(MOST * 3):
            pool.submit(held_up(slow), names.append)
        for _ in range(MOST * 4):
            assert list(pool.finished(0.01)) == []
        busy = [thread for thread in threading.enumerate() if thread.name.startswith("harness2-prepare")]
        assert len(busy) == MOST
        slow.set()
        gathered(pool, MOST * 3)
        end = time.monotonic() + PATIENCE
        while sum(thread.is_alive() for thread in busy) > 1:
            assert time.monotonic() < end
            time.sleep(0.01)

    assert not any(thread.is_alive() for thread in busy)


def test_nothing_waits_and_nothing_is_held_up_while_one_call_runs_alone() -> None:
    slow = threading.Event()
    done: list[str] = []

    with Preparers() as pool:
        pool.submit(held_up(slow), done.append)
        for _ in range(10):
            assert list(pool.finished(0.01)) == []
        assert sum(thread.name.startswith("harness2-prepare") for thread in threading.enumerate()) == 1
        slow.set()
        gathered(pool, 1)


def test_what_never_ran_does_not_begin_when_it_has_been_closed() -> None:
    begun: list[int] = []

    with Preparers() as pool:
        pool.submit(partial(int, 1), begun.append)
        pool.close()
        threads = threading.active_count()
        for finish in (*pool.finished(0), *pool.finished(0)):
            finish()
        assert threading.active_count() == threads

    assert begun == [1]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)])
def test_what_a_call_raises_is_raised_to_the_caller_and_the_next_call_runs(error: BaseException) -> None:
    done: list[int] = []

    def fails() -> int:
        raise error

    with Preparers() as pool:
        pool.submit(fails, done.append)
        pool.submit(partial(int, 1), done.append)
        finishes: list[Finish] = []
        end = time.monotonic() + PATIENCE
        while len(finishes) < 2 and time.monotonic() < end:
            finishes += list(pool.finished(0.02))

        with pytest.raises(type(error)) as raised:
            finishes[0]()
        finishes[1]()

    assert raised.value is error
    assert done == [1]


def test_its_end_waits_for_all_that_was_submitted() -> None:
    done: list[int] = []

    def slowly(number: int) -> int:
        time.sleep(0.001)
        return number

    with Preparers() as pool:
        for number in range(50):
            pool.submit(partial(slowly, number), done.append)
        pool.close()
        for finish in pool.finished(0):
            finish()

    assert done == list(range(50))


def test_one_that_was_never_used_ends_at_once() -> None:
    with Preparers() as pool:
        assert list(pool.finished(0)) == []
