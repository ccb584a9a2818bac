"""The state of a live view: what it knows after which events, and that no event can make it fall over."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.cli.live.state import ELSEWHERE, QUEUED, RUNNING, WAITING, Domain, Spend, State
from harness2_core.model.events import Happened
from harness2_core.sweep.event_log import event_in

RECORDED: Final = Path(__file__).parent.parent.parent / "docs" / "live.jsonl"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def at(second: float) -> str:
    return (START + timedelta(seconds=second)).isoformat()


def happened(what: str, second: float = 0, *, request: str = "", step: str = "", **facts: str) -> Happened:
    """An event `second` seconds after the start; `step` is `kind task mode label`."""
    kind, task, mode, label = (*step.split(), "", "", "", "")[:4]
    return Happened(what, at(second), task=task, mode=mode, label=label, kind=kind, request=request, facts=facts)


def started(tasks: Iterable[str] = ("d/one", "d/two"), **facts: str) -> Happened:
    stream = [{"domain": "d", "tasks": list(tasks), "before": 1}]
    modes = [["agg", "parallel"], ["seq", "sequential"]]
    given = {"namespace": "toy-py-agg1", "steps": "20", "slots": "4"}
    given |= {"stream": json.dumps(stream), "modes": json.dumps(modes), **facts}
    return Happened("sweep-started", at(0), facts=given)


def folded(*events: Happened) -> State:
    state = State()
    for event in events:
        state = state.after(event)
    return state


def test_a_sweep_that_begins_says_the_way_before_it() -> None:
    state = folded(started())

    assert (state.namespace, state.doing, state.steps, state.slots) == ("toy-py-agg1", "sweep", 20, 4)
    assert state.domains == (Domain("d", ("d/one", "d/two"), 1),)
    assert state.modes == {"agg": "parallel", "seq": "sequential"}
    assert state.tasks_done == (1, 3)
    assert state.began == START.timestamp()


def test_a_sweep_that_begins_forgets_the_one_before() -> None:
    former = folded(started(), happened("attempt-lost", cause="disk", request="r"), happened("sweep-ended", exit="3"))

    assert former.after(started()) == folded(started())


@pytest.mark.parametrize("what", ["judging-started", "reselecting-started"])
def test_judging_and_reselecting_are_things_of_their_own(what: str) -> None:
    assert folded(happened(what, namespace="n", steps="3")).doing == what.removesuffix("-started")


def test_a_request_runs_from_its_start_to_its_end() -> None:
    queued = folded(started(), happened("attempt-queued", 1, request="r", step="stage d/one agg inv1", kind="session"))
    running = queued.after(
        happened("attempt-started", 3, request="r", kind="session", role="improver", draw="inv1.fix")
    )
    (piece,) = running.in_state(RUNNING)

    assert [piece.state for piece in queued.pieces.values()] == [QUEUED]
    assert (piece.task, piece.mode, piece.label, piece.role) == ("d/one", "agg", "inv1.fix", "improver")
    assert piece.since == START.timestamp() + 3
    assert running.after(happened("attempt-ended", 9, request="r", role="improver")).pieces == {}


def test_a_lost_attempt_waits_until_it_is_asked_for_again() -> None:
    state = folded(
        happened("attempt-started", 1, request="r", role="executor"),
        happened("attempt-lost", 2, request="r", cause="rate-limit", usd="0.25"),
        happened("attempt-waits", 2, request="r", seconds="60"),
    )
    (piece,) = state.in_state(WAITING)

    assert (piece.cause, piece.until, piece.usd) == ("rate-limit", START.timestamp() + 62, Decimal("0.25"))
    assert state.losses == {"rate-limit": 1}
    assert state.after(happened("attempt-queued", 62, request="r")).in_state(WAITING) == ()


def test_a_loss_is_counted_once_though_it_is_told_in_two_events() -> None:
    losing = (happened("attempt-lost", request="r", cause="disk"), happened("attempt-waits", request="r", seconds="1"))

    assert folded(*losing, *losing).losses == {"disk": 2}


def test_what_another_process_has_is_no_work_of_ours() -> None:
    state = folded(happened("attempt-elsewhere", request="r", kind="rollout"))

    assert len(state.in_state(ELSEWHERE)) == 1
    assert state.in_state(RUNNING) == ()


def test_spending_adds_up_by_role_and_unknown_is_not_zero() -> None:
    state = folded(
        happened("attempt-ended", request="a", role="executor", source="stream", usd="0.10"),
        happened("attempt-ended", request="b", role="executor", source="stream", usd="0.20"),
        happened("attempt-ended", request="c", role="improver", source="unknown"),
        happened("attempt-ended", request="d", role="selector", source="none", usd="0"),
        happened("attempt-ended", request="e"),  # served: nobody paid for it here
    )

    assert state.spent == {
        "executor": Spend(2, Decimal("0.30"), 0, True),
        "improver": Spend(1, Decimal(0), 1, True),
        "selector": Spend(1, Decimal(0), 0, False),
    }


def test_a_task_is_begun_with_its_bases_and_done_with_its_finish() -> None:
    waiting = folded(started(), happened("step-started", step="open d/one"), happened("step-held", step="open d/one"))
    begun = waiting.after(happened("step-started", step="bases d/one"))
    done = begun.after(happened("step-ended", step="finish d/one"))

    assert (waiting.opened, begun.opened, done.opened) == ((), ("d/one",), ())
    assert done.tasks_done == (2, 3)


def test_a_task_waits_for_the_modes_of_the_one_before_it_that_are_not_through() -> None:
    based = folded(started(), happened("step-ended", step="bases d/one"), happened("step-ended", step="bases d/two"))
    through = based.after(happened("step-ended", step="close d/one agg"))
    going_on = based.after(happened("step-started", step="view d/two seq"))

    assert list(based.waits_for()) == [("d/two", "d/one", ("agg", "seq"))]
    assert list(through.waits_for()) == [("d/two", "d/one", ("seq",))]
    assert list(going_on.waits_for()) == [("d/two", "d/one", ("agg",))]


def test_a_mode_that_a_task_has_behind_it_waits_for_nothing() -> None:
    state = folded(started(partly='{"d/two": ["seq"]}'), happened("step-ended", step="bases d/two"))

    assert list(state.waits_for()) == [("d/two", "d/one", ("seq",))]


def test_what_is_held_back_is_counted_by_its_reason() -> None:
    state = folded(
        happened("attempt-queued", request="r"),
        happened("step-held", request="r", step="bases d/one", why="--max-usd 5"),
        happened("step-held", step="open d/two", why="--max-usd 5"),
    )

    assert state.held == {"--max-usd 5": 2}
    assert state.pieces == {}


def test_an_ended_sweep_has_its_exit_code_and_nothing_running() -> None:
    state = folded(started(), happened("attempt-started", request="r"), happened("sweep-ended", 5, exit="2"))

    assert (state.exit, state.pieces, state.latest) == (2, {}, START.timestamp() + 5)


@pytest.mark.parametrize("broken", ["", "[", "{}", "null", "[1]", '[{"domain": 1}]', "[" * 100_000])
def test_a_fact_that_cannot_be_read_counts_as_missing(broken: str) -> None:
    state = folded(happened("sweep-started", stream=broken, modes=broken, partly=broken, steps=broken, slots=broken))

    assert (state.domains, state.modes, state.steps, state.slots) == ((), {}, 0, 0)


def test_the_events_of_a_real_run_leave_nothing_behind() -> None:
    events = [event for line in RECORDED.read_bytes().splitlines() if (event := event_in(line))]
    state = folded(*events)

    assert len(state.in_state(RUNNING)) == state.slots
    assert state.steps_done < state.steps
    assert set(state.opened) <= {task for domain in state.domains for task in domain.tasks}


WORDS: Final = st.sampled_from(
    [
        *("sweep-started", "judging-started", "step-started", "step-ended", "step-held", "sweep-ended", "odd", ""),
        *("attempt-queued", "attempt-elsewhere", "attempt-started", "attempt-lost", "attempt-waits", "attempt-ended"),
    ]
)
NAMES: Final = st.sampled_from(["", "d/one", "d/two", "[red]x[/]", "\x1b[2J", "漢字" * 9])
FACTS: Final = st.dictionaries(
    st.sampled_from(
        ["namespace", "steps", "slots", "modes", "stream", "partly", "why", "kind", "role", "cause", "usd", "seconds"]
    ),
    st.one_of(st.text(max_size=20), st.sampled_from(["1", "-1", "NaN", "Infinity", "1e9", "٣", "0.5", "session"])),
)
ANY_EVENT: Final = st.builds(
    Happened,
    what=WORDS,
    at=st.one_of(st.sampled_from([at(0), at(7), "0001-01-01T00:00:00", "9999-12-31T23:59:59Z"]), st.text(max_size=8)),
    task=NAMES,
    mode=st.sampled_from(["", "agg", "seq"]),
    label=NAMES,
    kind=st.sampled_from(["", "open", "bases", "view", "stage", "close", "finish", "grade"]),
    request=st.sampled_from(["", "r1", "r2"]),
    facts=FACTS,
)


@given(st.lists(st.one_of(ANY_EVENT, st.just(started())), max_size=30))
def test_no_order_of_events_makes_it_fall_over(events: list[Happened]) -> None:
    state = folded(*events)

    assert sum(count for count in state.losses.values()) <= len(events)
    list(state.waits_for())


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_ends_changes_no_sum(random: object) -> None:
    ends = [happened("attempt-ended", request=f"r{n}", role="executor", source="x", usd=f"0.0{n}") for n in range(9)]
    random.shuffle(ends)  # type: ignore[attr-defined]

    assert folded(*ends).spent == {"executor": Spend(9, Decimal("0.36"), 0, True)}
