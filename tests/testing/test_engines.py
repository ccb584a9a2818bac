"""The engines for tests keep the engine contract; the virtual one is exact about time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Assignment, Ended, Engine, InvalidValue, request_digest
from harness2_core.model.requests import Request
from harness2_core.testing.engine_contract import EngineContract
from harness2_core.testing.engine_work import assignment, finish
from harness2_core.testing.engines import InlineEngine, VirtualEngine


class TestInlineEngine(EngineContract):
    concurrent = False

    @pytest.fixture
    def engine(self) -> Engine:
        return InlineEngine()


class TestVirtualEngine(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return VirtualEngine(lambda request: 1.5)


def _timed(**durations: float) -> VirtualEngine:
    def duration(request: Request) -> float:
        return durations[request.task]

    return VirtualEngine(duration)


def _names(engine: VirtualEngine, seconds: float | None) -> list[str]:
    return [future.result()[0].note for future in engine.wait(seconds)]


def named(work: Assignment) -> tuple[Ended, ...]:
    return tuple(Ended(request_digest(request), True, note=request.task) for request in work.requests)


def test_the_clock_moves_to_the_next_completion() -> None:
    engine = _timed(slow=7.0, quick=2.5)
    for name in ("slow", "quick"):
        engine.submit(named, assignment(name))

    assert (_names(engine, None), engine.now()) == (["quick"], 2.5)
    assert (_names(engine, 100), engine.now()) == (["slow"], 7.0)
    assert (_names(engine, None), engine.now()) == ([], 7.0)


def test_the_clock_moves_by_the_wait_when_nothing_completes_within_it() -> None:
    engine = _timed(slow=7.0)
    engine.submit(named, assignment("slow"))

    assert (_names(engine, 3), engine.now()) == ([], 3.0)
    assert (_names(engine, 0), engine.now()) == ([], 3.0)
    assert (_names(engine, 4), engine.now()) == (["slow"], 7.0)


def test_work_is_done_when_it_completes_and_not_before() -> None:
    engine = _timed(a=5.0)
    ran: list[float] = []

    def note(work: Assignment) -> tuple[Ended, ...]:
        ran.append(engine.now())
        return finish(work)

    future = engine.submit(note, assignment("a"))
    engine.wait(4.9)
    assert (ran, future.done()) == ([], False)

    engine.wait(None)
    assert (ran, future.done()) == ([5.0], True)


def test_work_of_no_duration_is_done_without_time() -> None:
    engine = _timed(a=0.0)
    engine.submit(named, assignment("a"))

    assert (_names(engine, 0), engine.now()) == (["a"], 0.0)


def test_equal_times_complete_together_in_order_of_submission() -> None:
    engine = _timed(b=1.0, a=1.0, c=2.0)
    for name in ("b", "c", "a"):
        engine.submit(named, assignment(name))

    assert _names(engine, None) == ["b", "a"]


def test_a_batch_takes_as_long_as_its_longest_draw() -> None:
    engine = _timed(a=1.0, b=4.0)
    engine.submit(named, assignment("a", "b"))

    engine.wait(None)

    assert engine.now() == 4.0


def test_cancelled_work_is_never_done_and_reported_at_the_same_moment() -> None:
    engine = _timed(a=5.0, b=9.0)
    ran: list[str] = []

    def note(work: Assignment) -> tuple[Ended, ...]:
        ran.append(work.requests[0].task)
        return finish(work)

    a, b = (engine.submit(note, assignment(name)) for name in ("a", "b"))
    engine.wait(1)
    engine.cancel(request_digest(assignment("a").requests[0]))

    assert (list(engine.wait(None)), engine.now()) == ([a], 1.0)
    assert a.cancelled()
    assert (list(engine.wait(None)), engine.now()) == ([b], 9.0)
    assert ran == ["b"]


def test_a_batch_goes_on_while_one_of_its_draws_is_wanted() -> None:
    engine = _timed(a=1.0, b=1.0)
    batch = assignment("a", "b")
    future = engine.submit(finish, batch)

    engine.cancel(request_digest(batch.requests[0]))

    assert list(engine.wait(None)) == [future]
    assert not future.cancelled()


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_duration_is_a_finite_number(seconds: float) -> None:
    with pytest.raises(InvalidValue, match="duration"):
        _timed(a=seconds).submit(finish, assignment("a"))


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.lists(st.floats(0, 30), max_size=10))
def test_work_completes_in_order_of_its_time_however_one_waits(durations: list[float], waits: list[float]) -> None:
    engine = _timed(**{f"t{number}": seconds for number, seconds in enumerate(durations)})
    for number in range(len(durations)):
        engine.submit(named, assignment(f"t{number}"))

    order: list[str] = []
    for seconds in [*waits, *[None] * len(durations)]:
        order += _names(engine, seconds)

    assert order == [f"t{number}" for number in sorted(range(len(durations)), key=lambda n: durations[n])]
    assert engine.now() >= max(durations)
