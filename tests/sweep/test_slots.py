"""How much may run at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness2_core.sweep.slots import Group, Limits, Slots

ROLLOUT, SESSION = Group("rollout", "m"), Group("session", "m")


def test_all_kinds_share_the_slots() -> None:
    slots = Slots(Limits(2))

    slots.take(ROLLOUT)
    slots.take(SESSION)

    assert slots.free(ROLLOUT) == slots.free(SESSION) == 0


def test_a_kind_has_a_bound_of_its_own() -> None:
    slots = Slots(Limits(4, {"rollout": 1}))

    slots.take(ROLLOUT)

    assert slots.free(ROLLOUT) == 0
    assert slots.free(SESSION) == 3


def test_a_model_has_a_bound_of_its_own_whatever_the_kind() -> None:
    slots = Slots(Limits(4, models={"m": 1}))

    slots.take(ROLLOUT)

    assert slots.free(SESSION) == 0
    assert slots.free(Group("session", "other")) == 3


@given(st.lists(st.sampled_from([ROLLOUT, SESSION, Group("grade", "")]), max_size=20))
def test_taking_no_more_than_what_is_free_never_exceeds_a_limit(wishes: list[Group]) -> None:
    limits = Limits(3, {"session": 2}, {"m": 2})
    slots = Slots(limits)
    taken: list[Group] = []

    for group in wishes:
        if slots.free(group):
            slots.take(group)
            taken.append(group)

    assert len(taken) <= 3
    assert sum(group.kind == "session" for group in taken) <= 2
    assert sum(group.model == "m" for group in taken) <= 2


def test_what_is_given_back_is_free_again() -> None:
    slots = Slots(Limits(1))

    slots.take(ROLLOUT)
    slots.give_back(ROLLOUT)

    assert slots.free(SESSION) == 1
