from __future__ import annotations

import random

import pytest

from harness2_core.model.channel import Outcome
from harness2_core.model.manifest import Manifest, blob_entry
from harness2_core.model.records import Reply
from harness2_core.model.strategy import FORMER_CHARS, Ask, Ballot, Dialogue, Unusable, asked, asked_all, correction
from harness2_core.model.templates import Templates

ASK = Ask("choose", "Choose.\n", Manifest())


def said(text: str, outcome: Outcome = Outcome.FINISHED) -> tuple[Reply, ...]:
    return (Reply(outcome, text),)


def number(text: str) -> int:
    if not text.isdecimal():
        raise Unusable("it is no number")
    return int(text)


def result_of(dialogue: Dialogue[object], *replies: tuple[Reply, ...]) -> object:
    """Sends `replies`; the dialogue must end with the last one."""
    next(dialogue)
    for reply in replies[:-1]:
        dialogue.send(reply)
    with pytest.raises(StopIteration) as end:
        dialogue.send(replies[-1])
    return end.value.value


def test_a_usable_reply_ends_the_dialogue() -> None:
    assert result_of(asked(ASK, number), said("4")) == 4


def test_an_unusable_reply_is_corrected_once() -> None:
    assert result_of(asked(ASK, number), said("four"), said("4")) == 4


def test_two_unusable_replies_end_in_the_reason_of_the_second() -> None:
    dialogue = asked(ASK, number)
    next(dialogue)
    dialogue.send(said("four"))
    with pytest.raises(Unusable, match="no number"):
        dialogue.send(said("five"))


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.LOST, Outcome.REFUSED])
def test_what_a_broken_session_left_is_no_answer(outcome: Outcome) -> None:
    assert result_of(asked(ASK, number), said("3", outcome), said("4")) == 4


def test_a_blank_reply_is_no_answer() -> None:
    assert result_of(asked(ASK, number), said(" \n"), said("4")) == 4


def test_the_correction_repeats_mission_reply_and_reason() -> None:
    dialogue = asked(ASK, number)
    next(dialogue)
    (again,) = dialogue.send(said("four"))
    assert again.corrects == "choose"
    assert again.evidence == ASK.evidence
    assert again.mission.startswith("Choose.\n\n# Your former reply could not be used")
    assert "<former-reply>\nfour\n</former-reply>" in again.mission
    assert "Reason: it is no number" in again.mission


def test_a_correction_repeats_a_long_reply_in_part_and_says_so() -> None:
    again = correction(ASK, "x" * 1_000_000, "too long")
    assert len(again.mission) < FORMER_CHARS + 1_000
    assert "[harness2: 980,000 characters left out" in again.mission


def test_questions_side_by_side_are_corrected_side_by_side() -> None:
    asks = [Ask(tag, tag, Manifest()) for tag in ("a", "b", "c")]
    dialogue = asked_all([(ask, number) for ask in asks])
    assert next(dialogue) == tuple(asks)
    again = dialogue.send((*said("1"), *said("no"), *said("nor this")))
    assert [ask.corrects for ask in again] == ["b", "c"]
    with pytest.raises(StopIteration) as end:
        dialogue.send((*said("2"), *said("still not")))
    first, second, third = end.value.value
    assert (first, second) == (1, 2)
    assert isinstance(third, Unusable)


def test_no_question_is_no_session() -> None:
    with pytest.raises(StopIteration) as end:
        next(asked_all(()))
    assert end.value.value == ()


def a_ballot(*ids: str) -> Ballot:
    files = {"task.md": b"t", **{f"candidates/{id}.md": id.encode() for id in ids}}
    entries = {path: blob_entry(data) for path, data in files.items()}
    entries |= {f"candidates/{id}/": Manifest({"x": blob_entry(id.encode())}).entry() for id in ids}
    return Ballot(
        {id: {"x": id} for id in ids},
        Manifest(entries),
        {},
        3,
        Templates({"select": "{{ ids|join(' ') }}\n{% for line in listing %}{{ line }}\n{% endfor %}"}),
    )


def test_ballot_order_goes_on_with_two_letters_after_z() -> None:
    assert a_ballot("AB", "Z", "A", "AA").ids == ("A", "Z", "AA", "AB")


def test_a_mission_names_only_what_lies_in_the_evidence() -> None:
    mission = a_ballot("A", "B").mission()
    assert "context/source/" not in mission
    assert "`context/candidates/B.md`" in mission
    assert "`context/candidates/B/`" in mission


def test_a_mission_names_the_candidates_in_the_order_asked_for() -> None:
    assert a_ballot("A", "B", "C").mission(("C", "A")).startswith("C A\n")
    assert "candidates/B" not in a_ballot("A", "B", "C").mission(("C", "A"))


def test_a_narrowed_ballot_holds_the_task_and_the_chosen_candidates() -> None:
    assert list(a_ballot("A", "AA", "B").narrowed(("A", "B")).entries) == [
        "candidates/A.md",
        "candidates/A/",
        "candidates/B.md",
        "candidates/B/",
        "task.md",
    ]


def test_a_ballot_has_a_generator_of_its_own() -> None:
    ballot = a_ballot("A", "B")
    first = ballot.random().random()
    random.random()
    assert ballot.random().random() == first
