"""`EngineContract`: what every engine promises, as tests. Subclass it and fill the fixture `engine`.

    class TestMyEngine(EngineContract):
        @pytest.fixture
        def engine(self):
            return my_engine(MySettings())

`concurrent`: work runs beside the caller. `cancels_running`: work sees by `is_cancelled` that it was cancelled, which
holds for engines whose workers are threads of this process. `apart`: workers are other processes, which may die.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

import pytest

from harness2_core.api import Assignment, Engine, Work, request_digest
from harness2_core.api.engine import cancelled_here, outcome_of

from .engine_work import assignment, die, fail, fail_unpicklably, finish, finish_soon, until_cancelled


class EngineContract:
    concurrent: ClassVar[bool] = True
    cancels_running: ClassVar[bool] = True
    apart: ClassVar[bool] = False

    @pytest.fixture
    def engine(self) -> Engine:
        raise NotImplementedError("override the fixture `engine`")

    @pytest.fixture(autouse=True)
    def _closed(self, engine: Engine) -> Iterator[None]:
        yield
        engine.close()
        assert not cancelled_here, "a mark that stays would end the next attempt at the same request"

    def test_it_is_an_engine(self, engine: Engine) -> None:
        assert isinstance(engine, Engine)

    def test_work_ends_with_its_result(self, engine: Engine) -> None:
        work = assignment("a", "b")

        future = engine.submit(finish, work)

        assert _all(engine, 1) == [future]
        assert [ended.request for ended in future.result()] == [request_digest(request) for request in work.requests]
        assert all(ended.final for ended in future.result())

    def test_each_future_is_reported_once(self, engine: Engine) -> None:
        futures = [engine.submit(finish, assignment(f"t{number}")) for number in range(40)]

        reported = _all(engine, 40)

        assert len(reported) == 40
        assert set(reported) == set(futures)
        assert engine.wait(0) == engine.wait(None) == []

    def test_waiting_for_nothing_ends(self, engine: Engine) -> None:
        assert list(engine.wait(None)) == []
        assert list(engine.wait(0)) == []
        assert list(engine.wait(0.01)) == []
        assert list(engine.wait(-1)) == []

    def test_a_wait_in_vain_takes_its_time_on_the_clock_of_the_engine(self, engine: Engine) -> None:
        before = engine.now()

        engine.wait(0.05)

        assert engine.now() - before >= 0.049

    def test_the_clock_never_goes_back(self, engine: Engine) -> None:
        seen = [engine.now()]
        for name in ("a", "b", "c"):
            engine.submit(finish, assignment(name))
            seen.append(engine.now())
            engine.wait(None)
            seen.append(engine.now())

        assert seen == sorted(seen)

    def test_a_wait_of_no_time_does_not_wait(self, engine: Engine) -> None:
        if not self.concurrent:
            pytest.skip("this engine has ended all work when it returns from submit")
        future = engine.submit(finish_soon, assignment("a"))

        assert list(engine.wait(0)) == []
        assert _all(engine, 1) == [future]

    def test_a_worker_that_raises_shows_in_its_future_and_stops_nothing(self, engine: Engine) -> None:
        work = assignment("bug")
        bug = engine.submit(fail, work)
        good = engine.submit(finish, assignment("good"))

        assert set(_all(engine, 2)) == {bug, good}
        assert isinstance(bug.exception(), ZeroDivisionError)
        (lost,) = outcome_of(bug, [request_digest(work.requests[0])])
        assert not lost.final
        assert (lost.cause, "ZeroDivisionError" in lost.note) == ("worker", True)

    def test_what_cannot_be_pickled_is_a_loss_like_any_other(self, engine: Engine) -> None:
        work = assignment("locked")
        future = engine.submit(fail_unpicklably, work)

        assert _all(engine, 1) == [future]
        (lost,) = outcome_of(future, [request_digest(work.requests[0])])
        assert (lost.final, lost.cause) == (False, "worker")
        again = engine.submit(finish, assignment("after"))
        assert _all(engine, 1) == [again]
        assert again.result()[0].final

    def test_a_call_that_cannot_be_pickled_runs_or_shows_in_its_future(self, engine: Engine) -> None:
        work = assignment("closure")
        future = engine.submit(lambda given: finish(work), work)

        assert _all(engine, 1) == [future]
        assert future.exception() is not None or future.result()[0].final

    def test_a_worker_that_dies_is_a_loss_and_what_comes_after_it_is_reported(self, engine: Engine) -> None:
        if not self.apart:
            pytest.skip("its workers are no processes of their own")
        work = assignment("killed")
        killed = engine.submit(die, work)

        assert _all(engine, 1) == [killed]
        (lost,) = outcome_of(killed, [request_digest(work.requests[0])])
        assert (lost.final, lost.cause) == (False, "worker")
        after = engine.submit(finish, assignment("after"))
        assert _all(engine, 1) == [after]

    def test_the_same_request_can_be_tried_again(self, engine: Engine) -> None:
        work = assignment("again")
        engine.submit(fail, work)
        _all(engine, 1)

        second = engine.submit(finish, work)

        assert _all(engine, 1) == [second]
        assert second.result()[0].final

    def test_cancelling_what_is_over_or_unknown_does_nothing(self, engine: Engine) -> None:
        work = assignment("a")
        engine.submit(finish, work)
        _all(engine, 1)

        engine.cancel(request_digest(work.requests[0]))
        engine.cancel("f" * 64)

        assert list(engine.wait(0)) == []
        assert not cancelled_here

    def test_cancelled_work_ends_and_is_reported(self, engine: Engine) -> None:
        work, future = self._running(engine)

        for request in work.requests:
            engine.cancel(request_digest(request))

        assert _all(engine, 1) == [future]
        (ended,) = outcome_of(future, [request_digest(work.requests[0])])
        assert not ended.final

    def test_a_request_that_was_cancelled_can_be_tried_again(self, engine: Engine) -> None:
        work, _ = self._running(engine)
        engine.cancel(request_digest(work.requests[0]))
        _all(engine, 1)

        again = engine.submit(finish, work)

        assert _all(engine, 1) == [again]
        assert again.result()[0].final

    def test_closing_ends_what_runs(self, engine: Engine) -> None:
        _, future = self._running(engine)
        later = engine.submit(finish, assignment("later"))

        engine.close()

        assert future.done()
        assert later.done()

    def test_closing_twice_is_fine(self, engine: Engine) -> None:
        engine.close()
        engine.close()

    def _running(self, engine: Engine) -> tuple[Assignment, Work]:
        """Work that runs until it is cancelled."""
        if not (self.concurrent and self.cancels_running):
            pytest.skip("work that runs cannot be cancelled here")
        work = assignment("long")
        future = engine.submit(until_cancelled, work)
        return work, future


def _all(engine: Engine, count: int) -> list[Work]:
    """Waits for so many futures, on a real clock for a minute at most."""
    done: list[Work] = []
    end = time.monotonic() + 60
    while len(done) < count and time.monotonic() < end:
        done += engine.wait(5)
    return done
