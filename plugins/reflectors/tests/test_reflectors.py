from __future__ import annotations

from attrs import evolve
from harness2_reflectors.changes import Changes
from harness2_reflectors.lesson import Reflect
from harness2_reflectors.nothing import Nothing

from harness2_core.testing.dialogues import drive, in_turn
from harness2_core.testing.reflector_contract import REPLY, ReflectorContract, sample_round


class TestReflect(ReflectorContract):
    factory = "harness2_reflectors.lesson:Reflect"


class TestChanges(ReflectorContract):
    factory = "harness2_reflectors.changes:Changes"


class TestNothing(ReflectorContract):
    factory = "harness2_reflectors.nothing:Nothing"


def test_lesson_reads_edits_and_lesson_from_one_reply() -> None:
    lesson = drive(Reflect().reflect(sample_round()), in_turn(REPLY)).result
    assert lesson is not None
    assert lesson.cue == "a ledger whose last line is a footer"
    assert [(edit.component, edit.verdict) for edit in lesson.edits] == [("notes.md", "helped")]


def test_declining_is_an_answer_and_is_not_asked_again() -> None:
    assert drive(Reflect().reflect(sample_round()), in_turn("NO_ENTRY")).result is None


def test_the_mission_says_what_was_adopted_and_why() -> None:
    (ask,) = drive(Reflect().reflect(sample_round()), in_turn(REPLY)).asks
    assert "labelled `agg1`" in ask.mission
    assert "its total is right" in ask.mission


def test_diff_names_each_change_with_the_harnesses_that_have_it() -> None:
    lesson = drive(Changes().reflect(sample_round()), in_turn()).result
    assert lesson is not None
    assert [(e.component, e.candidates, e.change, e.observed) for e in lesson.edits] == [
        ("notes.md", "agg1, inv1", "1 lines in, 1 lines out", "adopted"),
        ("scripts/sum.py", "agg1, inv1", "added, 1 lines", "adopted"),
    ]


def test_diff_tells_two_texts_of_one_file_apart() -> None:
    round = sample_round()
    other = evolve(round, trees={**round.trees, "dom1": {}})
    lesson = drive(Changes().reflect(other), in_turn()).result
    assert lesson is not None
    assert [(e.component, e.candidates, e.change) for e in lesson.edits if e.observed == "not adopted"] == [
        ("notes.md", "dom1", "removed")
    ]


def test_diff_claims_no_effect() -> None:
    lesson = drive(Changes().reflect(sample_round()), in_turn()).result
    assert lesson is not None
    assert {edit.verdict for edit in lesson.edits} == {"confounded"}


def test_diff_has_nothing_to_tell_when_the_adopted_harness_is_the_unmodified_one() -> None:
    assert drive(Changes().reflect(sample_round("dom1")), in_turn()).result is None


def test_none_asks_nothing_and_tells_nothing() -> None:
    played = drive(Nothing().reflect(sample_round()), in_turn())
    assert played.result is None
    assert played.asks == ()
