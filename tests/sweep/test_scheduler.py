"""The scheduler on a virtual clock: dataflow, slots, order, batches, losses, parking, budgets, stops."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness2_core.model.assignment import Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.model.requests import Request, RolloutRequest, request_digest
from harness2_core.sweep.graph import Key
from harness2_core.sweep.slots import Limits
from harness2_core.sweep.steps import Admitted, Wanted
from harness2_core.sweep.stop import Stop
from harness2_core.testing.memory_store import MemoryStore
from harness2_core.testing.simulation import Simulation, nodes_of

ONE = Plan(
    (Stage("inv1", "inv", "base", ("base1", "base2")), Roll("inv1", "inv1")), ("inv1", "base1"), rollouts=3, sessions=1
)
WIDE = Limits(100)


def minutes(rollout: float, session: float) -> Callable[[Request], float]:
    return lambda request: 60 * (rollout if isinstance(request, RolloutRequest) else session)


def test_a_task_takes_the_time_of_its_longest_way() -> None:
    work = Simulation({"one": ONE}, k=2)

    outcome, seconds = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), WIDE)

    assert seconds == 60 * (10 + 5 + 10 + 5 + 5)  # base, stage, roll, selection, reflection
    assert outcome.paid == 6


def test_the_modes_of_a_task_run_side_by_side_on_shared_bases() -> None:
    plans = {"one": ONE, "two": ONE}
    work = Simulation(plans, k=2)

    outcome, seconds = work.run(nodes_of({"d": 1}, plans), minutes(10, 5), WIDE)

    assert seconds == 60 * 35
    assert outcome.paid == 2 + 2 * 4


@pytest.mark.parametrize(("lookahead", "bases"), [(0, 3), (1, 1), (2, 1), (10**9, 1)])
def test_bases_of_the_next_tasks_are_rolled_ahead(lookahead: int, bases: int) -> None:
    """So only those of the first are waited for, or of all where nothing is rolled ahead."""
    work = Simulation({"one": ONE}, k=2)

    _, seconds = work.run(nodes_of({"d": 3}, {"one": ONE}, lookahead), minutes(10, 5), WIDE)

    assert seconds == 60 * (bases * 10 + 3 * 25)


def test_no_more_runs_at_once_than_there_are_slots() -> None:
    work = Simulation({"one": ONE}, k=2)
    running: set[Digest] = set()
    most = 0

    def notify(what: str, key: Key, digest: Digest, fact: str) -> None:
        nonlocal most
        if what == "attempt-started":
            running.add(digest)
        elif what == "attempt-ended":
            running.discard(digest)
        most = max(most, len(running))

    work.run(nodes_of({"a": 4, "b": 4}, {"one": ONE}), minutes(10, 5), Limits(3), notify=notify)

    assert most == 3


def test_a_limit_of_one_kind_leaves_slots_to_the_other() -> None:
    work = Simulation({"one": ONE}, k=2)

    _, seconds = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), Limits(8, {"rollout": 1}))

    assert seconds == 60 * (10 + 10 + 5 + 10 + 5 + 5)  # the bases come one after the other


def test_the_longest_expected_way_goes_first() -> None:
    work = Simulation({"one": ONE}, k=1)

    work.run(nodes_of({"short": 1, "long": 5}, {"one": ONE}), minutes(10, 5), Limits(1))

    assert work.begun[0].split("/")[1] == "long"


def test_what_waits_is_measured_by_the_means_learned_meanwhile() -> None:
    """It was queued when every step counted one; by seconds, its way is longer than what is left of the other."""
    work = Simulation({"one": ONE}, k=1)

    work.run(nodes_of({"long": 2, "waits": 1}, {"one": ONE}, lookahead=0), minutes(10, 10), Limits(1))

    assert work.begun.index("toy-py-agg1/waits/t0/base1") < work.begun.index("toy-py-one1/long/t1/inv1")


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.dictionaries(st.sampled_from("abc"), st.integers(1, 3), min_size=1),
    slots=st.integers(1, 5),
    seed=st.integers(0, 10_000),
)
def test_everything_is_done_once_whatever_the_timing(sizes: dict[str, int], slots: int, seed: int) -> None:
    plans = {"one": ONE, "two": ONE}
    work = Simulation(plans, k=2)

    outcome, _ = work.run(nodes_of(sizes, plans), lambda request: 1 + hash((seed, request.draw)) % 97, Limits(slots))

    tasks = sum(sizes.values())
    assert len(work.requests) == len(set(work.requests)) == outcome.paid == tasks * (2 + 2 * 4)
    assert {key.what for key in outcome.results} == {"finish"}
    assert len(outcome.results) == tasks


def test_what_has_a_record_is_served_and_not_begun() -> None:
    nodes = nodes_of({"d": 2}, {"one": ONE})
    work = Simulation({"one": ONE}, k=2)
    work.run(nodes, minutes(10, 5), WIDE)
    work.requests.clear()

    outcome, seconds = work.run(nodes, minutes(10, 5), WIDE)

    assert (outcome.paid, seconds, work.begun) == (0, 0.0, [])
    assert len(outcome.results) == 2


def test_a_lost_attempt_waits_on_the_engines_clock_without_a_slot() -> None:
    work = Simulation({"one": ONE}, k=2)
    draw = "toy-py-agg2/d/t0/base1"
    work.losses[draw] = [Ended(_digest(work, Key("bases", "d/t0"), draw), False, "rate-limit", 3600)]

    _, seconds = work.run(nodes_of({"d": 1, "e": 1}, {"one": ONE}), minutes(10, 5), Limits(1))

    assert work.begun.count(draw) == 2
    assert work.begun.index("toy-py-one2/e/t0/reflect") < len(work.begun) - 1  # the other task went on meanwhile
    assert seconds >= 3600


def test_an_attempt_that_is_lost_for_good_goes_on_as_a_value() -> None:
    work = Simulation({"one": ONE}, k=2)
    draw = "toy-py-agg2/d/t0/base1"
    work.losses[draw] = [Ended(_digest(work, Key("bases", "d/t0"), draw), False, "provider")] * 4

    outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), WIDE)

    assert work.begun.count(draw) == 4
    assert len(outcome.results) == 1


def test_work_claimed_elsewhere_is_parked_without_a_slot_and_its_record_found() -> None:
    work = Simulation({"one": ONE}, k=2)
    work.elsewhere["toy-py-agg2/d/t0/base1"] = 100

    outcome, seconds = work.run(nodes_of({"d": 1, "e": 1}, {"one": ONE}), minutes(10, 5), Limits(1))

    assert "toy-py-agg2/d/t0/base1" not in work.begun
    assert len(outcome.results) == 2
    assert seconds == 60 * (5 * 10 + 2 * 15)  # the other slot was never blocked


def test_work_whose_owner_elsewhere_has_died_is_taken_over_and_begun_once() -> None:
    work, claims, asked = Simulation({"one": ONE}, k=2), MemoryStore(), 0
    draw = "toy-py-agg2/d/t0/base1"

    def admit(wanted: tuple[Wanted, ...]) -> tuple[Admitted, ...]:
        return tuple(map(admitted, wanted))

    def admitted(item: Wanted) -> Admitted:
        nonlocal asked
        asked += item.request.draw == draw
        assert asked < 10, "asked for again and again"
        if item.digest in work.records:
            return Admitted("served")
        claim = claims.claim(item.digest)
        elsewhere = item.request.draw == draw and asked <= 3
        return Admitted("elsewhere") if elsewhere or not claim.__enter__() else Admitted("claimed", claim)

    work.admit = admit  # type: ignore[method-assign]
    outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), Limits(1))

    assert work.begun.count(draw) == 1
    assert len(outcome.results) == 1


def test_draws_of_one_tree_are_submitted_together_and_take_as_many_slots() -> None:
    work = Simulation({"one": ONE}, k=3, batch=2)
    batches: list[int] = []

    def call(assignment: object) -> tuple[Ended, ...]:
        batches.append(len(assignment.requests))  # type: ignore[attr-defined]
        return Simulation.call(work, assignment)  # type: ignore[arg-type]

    work.call = call  # type: ignore[method-assign, assignment]

    work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), Limits(2))

    assert batches[:2] == [2, 1]


@pytest.mark.parametrize("limits", [Limits(2), Limits(8, {"rollout": 2}), Limits(8, models={"m": 2})])
def test_a_batch_is_no_larger_than_the_slots_that_are_free(limits: Limits) -> None:
    work = Simulation({"one": ONE}, k=5, batch=5)
    running: set[Digest] = set()
    most = [0]

    def notify(what: str, key: Key, digest: Digest, fact: str) -> None:
        if what == "attempt-started" and key.what in ("bases", "rolls"):
            running.add(digest)
        elif what == "attempt-ended":
            running.discard(digest)
        most.append(len(running))

    outcome, _ = work.run(nodes_of({"d": 2}, {"one": ONE}), minutes(10, 5), limits, notify=notify)

    assert (max(most), len(outcome.results)) == (2, 2)


def test_a_draw_that_is_claimed_elsewhere_is_left_out_of_its_batch() -> None:
    work = Simulation({"one": ONE}, k=2, batch=2)
    work.elsewhere["toy-py-agg2/d/t0/base2"] = 3

    outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), WIDE)

    assert work.begun[0] == "toy-py-agg2/d/t0/base1"
    assert "toy-py-agg2/d/t0/base2" not in work.begun
    assert len(outcome.results) == 1


def test_what_a_budget_holds_back_holds_back_what_is_behind_it_and_nothing_else() -> None:
    work = Simulation({"one": ONE}, k=2)
    work.holds[Key("open", "d/t0")] = "no money"

    outcome, _ = work.run(nodes_of({"d": 2, "e": 1}, {"one": ONE}, lookahead=5), minutes(10, 5), WIDE)

    assert outcome.held == {Key("open", "d/t0"): "no money"}
    assert {key.task for key in outcome.results} == {"e/t0"}
    assert not any("/d/t1/" in draw for draw in work.begun)  # a later task does not take an earlier one's place


def test_a_stop_starts_nothing_more_and_lets_paid_work_end() -> None:
    work = Simulation({"one": ONE}, k=2)
    stop = Stop()
    ended: list[Digest] = []

    def notify(what: str, key: Key, digest: Digest, fact: str) -> None:
        if what == "attempt-started":
            stop.ask()
            stop.level = 1
        elif what == "attempt-ended":
            ended.append(digest)

    outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), Limits(1), stop, notify)

    assert len(work.begun) == len(ended) == 1
    assert outcome.results == {}


def test_a_second_stop_ends_paid_work_too() -> None:
    work = Simulation({"one": ONE}, k=2)
    stop = Stop()

    def notify(what: str, key: Key, digest: Digest, fact: str) -> None:
        if what == "attempt-started":
            stop.level = 2

    _, seconds = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), WIDE, stop, notify)

    assert seconds < 60
    assert work.records == set()


def test_an_error_of_the_preparation_is_raised_to_the_caller() -> None:
    work = Simulation({"one": ONE}, k=2)

    def broken(key: Key) -> object:
        raise RuntimeError("the store is gone")

    work.resume = broken  # type: ignore[method-assign, assignment]

    with pytest.raises(RuntimeError, match="the store is gone"):
        work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(10, 5), WIDE)


def test_it_runs_in_a_thread_of_its_own() -> None:
    results: list[int] = []

    def run() -> None:
        work = Simulation({"one": ONE}, k=1)
        outcome, _ = work.run(nodes_of({"d": 1}, {"one": ONE}), minutes(1, 1), WIDE)
        results.append(len(outcome.results))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)

    assert results == [1]


def _digest(work: Simulation, key: Key, draw: str) -> Digest:
    return request_digest(work.request(key, draw))
