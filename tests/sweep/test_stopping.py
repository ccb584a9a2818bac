"""A stop that comes while something is being prepared, and errors while work runs: on the virtual clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from harness2_core.api import Assignment, Digest, Engine, StoreError, executor_engine
from harness2_core.api.runtime import Call, Work
from harness2_core.model.assignment import Ended
from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.model.requests import request_digest
from harness2_core.sweep.graph import Key
from harness2_core.sweep.scheduler import Scheduler
from harness2_core.sweep.slots import Limits
from harness2_core.sweep.steps import Admitted, Held, Repeat, Wanted
from harness2_core.sweep.stop import Stop
from harness2_core.testing.simulation import Simulation, nodes_of

ONE = Plan(
    (Stage("inv1", "inv", "base", ("base1", "base2")), Roll("inv1", "inv1")), ("inv1", "base1"), rollouts=3, sessions=1
)
WIDE = Limits(8)


class Watched(Simulation):
    """Counts claims in force; `at` is called with the name of what is being prepared, on the pool."""

    def __init__(self) -> None:
        super().__init__({"one": ONE}, k=2)
        self.claimed: set[str] = set()
        self.ran: list[str] = []
        self.at: Any = lambda what, name: None

    def start(self, key: Key, results: Any) -> Any:
        self.at("start", str(key))
        return super().start(key, results)

    def admit(self, wanted: tuple[Wanted, ...]) -> tuple[Admitted, ...]:
        admitted = tuple(Admitted("claimed", self._claim(item.request.draw)) for item in wanted)
        for answer in admitted:
            assert answer.claim is not None
            answer.claim.__enter__()
        return admitted

    def assignment(self, wanted: tuple[Wanted, ...]) -> Assignment:
        self.at("assignment", wanted[0].request.draw)
        return super().assignment(wanted)

    def call(self, work: Assignment) -> Any:
        for request in work.requests:
            assert request.draw in self.claimed  # as long as it runs
            self.ran.append(request.draw)
        return super().call(work)

    @contextmanager
    def _hold(self, draw: str) -> Any:
        self.claimed.add(draw)
        yield True
        self.claimed.discard(draw)

    def _claim(self, draw: str) -> AbstractContextManager[bool]:
        held: AbstractContextManager[bool] = self._hold(draw)
        return held


@pytest.mark.parametrize("level", [1, 2])
def test_work_whose_stop_came_while_it_was_prepared_is_not_begun(level: int) -> None:
    work, stop = Watched(), Stop()

    def asks(what: str, name: str) -> None:
        if what == "assignment":
            stop.level = level

    work.at = asks
    outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), lambda request: 60, Limits(4), stop=stop)

    assert work.ran == []
    assert (work.claimed, outcome.results) == (set(), {})


def test_an_error_of_the_preparation_is_raised_when_what_runs_has_been_seen_out() -> None:
    work = Watched()

    def fails(what: str, name: str) -> None:
        if (what, name) == ("start", "view e/t0 one"):
            raise StoreError("cannot be written")

    work.at = fails
    seconds = {"d": 600.0, "e": 60.0}
    with pytest.raises(StoreError, match="cannot be written"):
        work.run(
            nodes_of({"d": 1, "e": 1}, {"one": ONE}), lambda request: seconds[request.draw.split("/")[1]], Limits(8)
        )

    assert sorted(work.ran) == [f"toy-py-agg2/{task}/base{n}" for task in ("d/t0", "e/t0") for n in (1, 2)]
    assert len(work.records) == 4  # those of the longer task too: they were paid for
    assert work.claimed == set()


def test_a_budget_that_is_used_up_holds_a_repeat_and_gives_its_claim_and_its_slot_back() -> None:
    work = Watched()
    draw = "toy-py-agg2/d/t0/base1"
    work.losses[draw] = [Ended(request_digest(work.request(Key("bases", "d/t0"), draw)), False, "network", 60)]
    work.repeat = lambda wanted: Held("no money")  # type: ignore[method-assign]

    outcome, _ = work.run(nodes_of({"d": 1, "e": 1}, {"one": ONE}), lambda request: 60, Limits(1))

    assert outcome.held == {Key("bases", "d/t0"): "no money"}
    assert (work.claimed, work.ran.count(draw)) == (set(), 1)
    assert {key.task for key in outcome.results} == {"e/t0"}


def test_what_several_losses_at_once_have_stopped_is_held_for_one_reason() -> None:
    """Or the second would look as if a budget had held it."""
    work = Watched()
    for task in ("d/t0", "e/t0"):
        draw = f"toy-py-agg2/{task}/base1"
        work.losses[draw] = [Ended(request_digest(work.request(Key("bases", task), draw)), False, "disk")]
    work.lost = lambda wanted, ended, tries: Repeat(  # type: ignore[method-assign]
        "stop-sweep", why=f"disk: no room for {wanted.digest}"
    )

    outcome, _ = work.run(nodes_of({"d": 1, "e": 1}, {"one": ONE}), lambda request: 60, WIDE)

    assert {key.task for key in outcome.held} == {"d/t0", "e/t0"}
    assert set(outcome.held.values()) == {outcome.stopped}


def test_an_error_of_the_engine_gives_every_claim_back() -> None:
    work = Watched()
    work.call = _broken  # type: ignore[method-assign]

    with pytest.raises(ZeroDivisionError):
        work.run(nodes_of({"d": 1}, {"one": ONE}), _no_duration, Limits(4))

    assert work.claimed == set()


def test_an_interrupted_run_gives_a_claim_back_only_when_its_work_has_ended() -> None:
    """Ctrl-C in a notebook comes out of the wait itself; whoever else may claim what still runs would run it too."""
    work = Watched()
    unclaimed: list[str] = []

    def slow(assignment: Assignment) -> tuple[Ended, ...]:
        time.sleep(0.3)
        unclaimed.extend(request.draw for request in assignment.requests if request.draw not in work.claimed)
        return Simulation.call(work, assignment)

    nodes, told = nodes_of({"d": 1}, {"one": ONE}), lambda what, key, digest, fact: None
    scheduler = Scheduler(nodes, work, Interrupted(executor_engine(ThreadPoolExecutor(4))), slow, WIDE, Stop(), told)

    with pytest.raises(KeyboardInterrupt):
        scheduler.run()

    assert len(work.records) == 2
    assert (unclaimed, work.claimed) == ([], set())


def test_an_engine_that_cannot_cancel_keeps_no_claim() -> None:
    work = Watched()
    nodes, told = nodes_of({"d": 1}, {"one": ONE}), lambda what, key, digest, fact: None
    engine = Uncancellable(executor_engine(ThreadPoolExecutor(4)))

    with pytest.raises(ConnectionError, match="the cluster is gone"):
        Scheduler(nodes, work, engine, work.call, WIDE, Stop(), told).run()

    assert work.claimed == set()
    engine.close()


class Interrupted:
    """An engine during whose first wait for running work somebody interrupts the process."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._running, self._quiet = engine, 0, True

    def submit(self, call: Call, work: Assignment) -> Work:
        self._running += 1
        return self._engine.submit(call, work)

    def wait(self, seconds: float | None) -> Sequence[Work]:
        if self._quiet and self._running == 2:
            self._quiet = False
            raise KeyboardInterrupt
        return self._engine.wait(seconds)

    def now(self) -> float:
        return self._engine.now()

    def cancel(self, request: Digest) -> None:
        pass  # it cannot be hurried

    def close(self) -> None:
        self._engine.close()


class Uncancellable(Interrupted):
    def cancel(self, request: Digest) -> None:
        raise ConnectionError("the cluster is gone")


def _broken(work: Assignment) -> Any:
    raise AssertionError("never called")


def _no_duration(request: object) -> float:
    raise ZeroDivisionError
