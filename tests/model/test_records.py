from __future__ import annotations

import pytest
from attrs import fields, has

from harness2_core.model import records
from harness2_core.model.channel import Outcome
from harness2_core.model.manifest import blob_entry
from harness2_core.model.records import EMPTY, Grade, Reply, Rollout, Verdict


@pytest.mark.parametrize(
    ("outcome", "text", "answered"),
    [
        (Outcome.FINISHED, "I choose A.", True),
        (Outcome.FINISHED, " \n", False),
        (Outcome.TIMED_OUT, "I choose A.", False),
        (Outcome.CRASHED, "I choose A.", False),
        (Outcome.REFUSED, "I cannot.", False),
        (Outcome.LOST, "", False),
    ],
)
def test_only_a_finished_session_that_said_something_has_answered(outcome: Outcome, text: str, answered: bool) -> None:
    assert Reply(outcome, text).answered is answered


@pytest.mark.parametrize("outcome", Outcome)
def test_every_rollout_that_ran_is_evidence_and_a_dead_one_is_none(outcome: Outcome) -> None:
    assert Rollout("0" * 64, outcome).usable is (outcome is not Outcome.LOST)


def test_a_rollout_that_left_nothing_refers_to_the_empty_file() -> None:
    rollout = Rollout("0" * 64, Outcome.CRASHED)
    assert rollout.transcript == rollout.stream == rollout.stderr == EMPTY == blob_entry(b"")


def test_a_judge_failure_is_missing_and_never_zero() -> None:
    assert Verdict("totals", None).passed is None
    assert Grade("0" * 64, Outcome.LOST).score is None


def test_half_a_character_in_a_models_words_can_be_recorded() -> None:
    assert Reply(Outcome.FINISHED, "a\ud800", problems=("\udfff",)).text == "a\ufffd"
    assert Verdict("x", True, "\ud800").why == "\ufffd"


def test_what_may_differ_between_equal_runs_is_named_so() -> None:
    """Records of two runs are compared without the keys `*_at`, `elapsed_ms` and `host`: no other may hold a time."""
    kinds = [kind for kind in vars(records).values() if isinstance(kind, type) and has(kind)]
    words = {word for kind in kinds for part in fields(kind) for word in part.name.split("_")}
    assert words & {"time", "date", "when", "clock", "pid", "path", "seconds", "duration", "cwd"} == set()
