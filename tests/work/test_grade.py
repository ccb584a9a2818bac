from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Context,
    FrozenMap,
    GradeRequest,
    Grading,
    Item,
    Lost,
    Outcome,
    Verdict,
)
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.records import Rollout
from harness2_core.model.serial import dump
from harness2_core.testing.workroom import ItemJudge, WorkRoom
from harness2_core.work.grade import scored

ROLLOUT = "a" * 64


@pytest.fixture
def delivered(room: WorkRoom) -> GradeRequest:
    """A stored rollout that delivered `sum.txt`."""
    entry = Entry(room.store.put_blob(b"3\n"), 2)
    manifest = Manifest(FrozenMap({"sum.txt": entry}))
    _put(
        room,
        Rollout(
            ROLLOUT, Outcome.FINISHED, True, deliverables=manifest, views=Manifest(FrozenMap({"sum.txt.txt": entry}))
        ),
    )
    return room.grade_request(ROLLOUT)


def _put(room: WorkRoom, rollout: Rollout) -> None:
    room.store.put("rollout", ROLLOUT, dump(rollout))


def test_a_score_is_passed_weight_over_weight(room: WorkRoom, delivered: GradeRequest) -> None:
    room.judge = ItemJudge(lambda item, work: Verdict(item.name, item.name == "a"), ("a", "b", "c"))
    grade = room.graded(delivered)
    assert grade.score == "0.333333"
    assert [verdict.passed for verdict in grade.verdicts] == [True, False, False]
    assert grade.usage.source == "none"


def test_a_judge_is_given_copies_of_what_was_stored(room: WorkRoom, delivered: GradeRequest) -> None:
    seen: dict[str, str] = {}

    def look(item: Item, work: Grading) -> Verdict:
        for part in ("deliverables", "views", "grader", "source", "sealed"):
            root: Path = getattr(work, part)
            seen.update({f"{part}/{p.name}": p.read_text() for p in root.rglob("*") if p.is_file()})
        return Verdict(item.name, True)

    room.judge = ItemJudge(look)
    room.graded(delivered)
    assert seen == {
        "deliverables/sum.txt": "3\n",
        "views/sum.txt.txt": "3\n",
        "grader/key.txt": "the answer is 3\n",
        "source/numbers.txt": "1\n2\n",
    }


def test_a_missing_verdict_makes_the_score_missing_and_never_zero(room: WorkRoom, delivered: GradeRequest) -> None:
    room.judge = ItemJudge(lambda item, work: Verdict(item.name, None if item.name == "b" else True, "prose"))
    grade = room.graded(delivered)
    assert grade.score is None
    assert grade.error == "1 of 2 items have no verdict"


def test_a_judge_that_raises_loses_no_good_verdict(room: WorkRoom, delivered: GradeRequest) -> None:
    def raising(item: Item, work: Grading) -> Verdict:
        if item.name == "b":
            raise ValueError("unreadable reply")
        return Verdict(item.name, True)

    room.judge = ItemJudge(raising, ("a", "b", "c"))
    grade = room.graded(delivered)
    assert [(verdict.item, verdict.passed) for verdict in grade.verdicts] == [("a", True), ("b", None), ("c", None)]
    assert grade.score is None
    assert grade.outcome is Outcome.CRASHED
    assert "toy raised ValueError: unreadable reply" in grade.error


def test_a_grading_asked_for_again_pays_only_for_what_is_missing(room: WorkRoom, delivered: GradeRequest) -> None:
    def losing(item: Item, work: Grading) -> Verdict:
        if item.name == "b":
            raise Lost("network", "connection reset")
        return Verdict(item.name, False)

    room.judge = ItemJudge(losing)
    (ended,) = room.perform(delivered)
    assert (ended.final, ended.cause) == (False, "network")
    judge = room.judge = ItemJudge(lambda item, work: Verdict(item.name, True))
    grade = room.graded(delivered)
    assert judge.asked == ["b"]
    assert grade.score == "0.5"


def test_a_delivered_nothing_is_zero_and_asks_no_judge(room: WorkRoom) -> None:
    _put(room, Rollout(ROLLOUT, Outcome.FINISHED, False))
    judge = room.judge = ItemJudge(lambda item, work: Verdict(item.name, True))
    grade = room.graded(room.grade_request(ROLLOUT))
    assert grade.score == "0"
    assert [verdict.passed for verdict in grade.verdicts] == [False, False]
    assert judge.asked == []


def test_a_delivered_nothing_is_zero_when_items_are_known_only_by_running(room: WorkRoom) -> None:
    _put(room, Rollout(ROLLOUT, Outcome.FINISHED, False))
    room.judge = ItemJudge(lambda item, work: Verdict(item.name, None), None)
    grade = room.graded(room.grade_request(ROLLOUT))
    assert grade.score == "0"


def test_a_state_is_judged_though_no_file_was_delivered(room: WorkRoom) -> None:
    _put(room, Rollout(ROLLOUT, Outcome.FINISHED, False))
    room.sums.spec = evolve(room.sums.spec, state_deliverable=True)
    room.judge = ItemJudge(lambda item, work: Verdict(item.name, item.name == "a"))
    assert room.graded(room.grade_request(ROLLOUT)).score == "0.5"


def test_a_dead_rollout_is_not_graded(room: WorkRoom) -> None:
    _put(room, Rollout(ROLLOUT, Outcome.LOST, cause="network"))
    (ended,) = room.perform(room.grade_request(ROLLOUT))
    assert not ended.final
    assert "is dead" in ended.note


def test_a_number_is_no_verdict(room: WorkRoom, delivered: GradeRequest) -> None:
    room.judge = ItemJudge(lambda item, work: Verdict(item.name, 1))  # type: ignore[arg-type]
    assert room.graded(delivered).score is None


def test_verdicts_on_items_that_were_not_asked_for_count_for_nothing(room: WorkRoom, delivered: GradeRequest) -> None:
    class Chatty(ItemJudge):
        def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:
            yield Verdict("invented", True)
            yield Verdict("a", False)
            yield Verdict("a", True)
            yield Verdict("b", True)

    room.judge = Chatty(lambda item, work: Verdict(item.name, True))
    grade = room.graded(delivered)
    assert [(verdict.item, verdict.passed) for verdict in grade.verdicts] == [("a", False), ("b", True)]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 1000)), min_size=1, max_size=20))
def test_a_score_lies_between_zero_and_one(rows: list[tuple[bool, int]]) -> None:
    score, why = scored([Verdict(str(n), passed, "", str(weight)) for n, (passed, weight) in enumerate(rows)])
    assert why == ""
    assert score is not None
    assert 0 <= float(score) <= 1
    assert (score == "1") == all(passed for passed, _ in rows) or float(score) > 0.999


def test_no_items_and_no_weight_give_no_score() -> None:
    assert scored([])[0] is None
    assert scored([Verdict("a", True, "", "0")])[0] is None
