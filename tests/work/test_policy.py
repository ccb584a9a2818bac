from __future__ import annotations

import pytest

from harness2_core.model.channel import Outcome
from harness2_core.model.errors import CAUSES, InvalidValue
from harness2_core.work.policy import CANCELLED, LONGEST_ASKED, LOSSES, UNANSWERED, Again, Dead, Halt, decide, is_final

KINDS = ("rollout", "session", "grade")


def test_every_cause_of_a_loss_has_a_row_with_its_reason() -> None:
    assert set(LOSSES) == set(CAUSES)
    assert all(row.why for row in (*LOSSES.values(), *UNANSWERED.values()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cause", CAUSES)
def test_every_loss_ends_after_its_repeats_and_waits_never_shrink(kind: str, cause: str) -> None:
    decisions = [decide(kind, cause, tries) for tries in range(1, 20)]
    repeats = [decision for decision in decisions if isinstance(decision, Again)]
    assert len(repeats) == LOSSES[cause].repeats
    assert [item.seconds for item in repeats] == sorted(item.seconds for item in repeats)
    assert all(not isinstance(decision, Again) for decision in decisions[len(repeats) :])


def test_a_rate_limit_is_no_exhausted_budget_and_the_reverse() -> None:
    assert isinstance(decide("session", "rate-limit", 1), Again)
    assert decide("session", "budget", 1) == Halt("model")
    assert decide("session", "rate-limit", 100) == Dead()


def test_a_key_that_is_refused_is_shown_to_no_provider_again() -> None:
    assert decide("rollout", "access", 1) == Halt("model")


def test_the_wait_that_the_other_side_asked_for_is_honoured() -> None:
    assert decide("session", "rate-limit", 1, 3_000) == Again(3_000)
    assert decide("session", "rate-limit", 1, 1) == Again(LOSSES["rate-limit"].wait)


@pytest.mark.parametrize("seconds", [LONGEST_ASKED + 1, 10**400])
def test_who_is_told_to_come_back_after_more_than_a_day_waits_for_a_resume(seconds: int) -> None:
    assert decide("session", "rate-limit", 1, LONGEST_ASKED) == Again(LONGEST_ASKED)
    assert decide("session", "rate-limit", 1, seconds) == Halt("model")


def test_a_full_disk_stops_the_sweep_instead_of_killing_requests() -> None:
    assert decide("rollout", "disk", 2) == Halt("sweep")


@pytest.mark.parametrize("outcome", [Outcome.FINISHED, Outcome.TIMED_OUT, Outcome.REFUSED, Outcome.CRASHED])
def test_what_an_agent_did_is_final_for_rollouts_and_gradings(outcome: Outcome) -> None:
    assert is_final("rollout", outcome)
    assert is_final("grade", outcome)
    with pytest.raises(InvalidValue):
        decide("rollout", outcome.value, 1)


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.REFUSED, Outcome.CRASHED])
def test_a_session_without_an_answer_is_asked_once_more(outcome: Outcome) -> None:
    assert not is_final("session", outcome)
    assert isinstance(decide("session", outcome.value, 1), Again)
    assert decide("session", outcome.value, 2) == Dead()


def test_what_we_cancelled_ourselves_uses_up_no_repeat() -> None:
    assert decide("rollout", CANCELLED, 99) == Again(0)


def test_nothing_lost_is_ever_final() -> None:
    assert not any(is_final(kind, Outcome.LOST) for kind in KINDS)
