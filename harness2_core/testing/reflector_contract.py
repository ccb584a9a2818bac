"""The contract of a reflector. Subclass it as `TestX(ReflectorContract)` and give `factory`.

class TestReflect(ReflectorContract):
    factory = "harness2_reflectors.lesson:Reflect"
"""

from __future__ import annotations

import pkgutil
import random
import re
from typing import ClassVar

import pytest

from harness2_core.api import (
    Ask,
    BenchWords,
    Choice,
    CountsSessions,
    Lesson,
    Manifest,
    Outcome,
    Reflector,
    Reply,
    Round,
    Unusable,
    blob_entry,
)
from harness2_core.method.missions import core_templates, words_of
from harness2_core.model.namespace import LABEL

from .dialogues import Answers, Played, drive
from .purity import reached_for

REPLY = """\
<edits>
component: notes.md
candidates: inv1, agg1
change: count the rows before adding
observed: agg1 counted, base1 did not
verdict: helped
</edits>

<experience>
cue: a ledger whose last line is a footer
lesson: count the rows and leave the footer out; see notes.md
evidence: first row
</experience>
"""


def sample_round(adopted: str = "agg1") -> Round:
    """A finished round with three stages; the adopted tree differs from base unless `adopted` is a base."""
    base = {"notes.md": "Add up.\n"}
    edited = {"notes.md": "Count, then add up.\n", "scripts/sum.py": "print(1)\n"}
    return Round(
        task="ledger/1",
        base=base,
        trees={"inv1": edited, "dom1": base, "agg1": edited},
        rollouts={label: blob_entry(label.encode()).digest for label in ("base1", "inv1", "dom1", "agg1")},
        decisions={"inv1": "counts first", "dom1": "kept", "agg1": "kept -> inv1"},
        choice=Choice("B", "its total is right"),
        adopted=adopted,
        evidence=Manifest({"task.md": blob_entry(b"Add up the ledger.\n")}),
        words=words_of(BenchWords("Add up ledgers.")),
        templates=core_templates(),
        listing=("`context/task.md`: the task",),
    )


class ReflectorContract:
    """A reflector is pure, and tells at most one lesson."""

    factory: ClassVar[str]

    def reflector(self) -> Reflector:
        made = pkgutil.resolve_name(self.factory)()
        assert isinstance(made, Reflector)
        return made

    def answer(self) -> str:
        """A session's reply that holds a lesson."""
        return REPLY

    def play(self, round: Round, answers: Answers | None = None) -> Played[Lesson | None]:
        return drive(self.reflector().reflect(round), answers or (lambda ask: self.answer()))

    def test_it_tells_a_whole_lesson_or_none(self) -> None:
        lesson = self.play(sample_round()).result
        assert lesson is None or (lesson.cue.strip() and lesson.lesson.strip() and lesson.evidence.strip())

    def test_the_same_round_and_replies_give_the_same_lesson(self) -> None:
        random.seed(1)
        once = self.play(sample_round())
        random.seed(2)  # the global generator must not matter
        assert self.play(sample_round()) == once

    def test_it_looks_at_nothing_but_the_round(self) -> None:
        self.play(sample_round())  # what is imported on the way is imported now
        _, reached = reached_for(lambda: self.play(sample_round()), self.factory.partition(":")[0])
        assert reached == []

    def test_an_adopted_base_is_no_trouble(self) -> None:
        self.play(sample_round("base1"))

    def test_sessions_are_shown_nothing_but_the_round(self) -> None:
        round = sample_round()
        for ask in self.play(round).asks:
            assert set(ask.evidence.entries.items()) <= set(round.evidence.entries.items())

    def test_tags_are_labels_and_each_is_asked_once(self) -> None:
        tags = [ask.tag for ask in self.play(sample_round(), self.refusing_first()).asks]
        assert len(set(tags)) == len(tags)
        assert all(re.fullmatch(LABEL, tag) for tag in tags)

    def test_it_asks_for_no_more_sessions_than_it_says_beforehand(self) -> None:
        reflector = self.reflector()
        said = reflector.sessions(2) if isinstance(reflector, CountsSessions) else 1
        assert len(self.play(sample_round()).asks) <= said, "say it by a method `sessions`: see `CountsSessions`"

    def test_an_unusable_reply_is_asked_for_once_more(self) -> None:
        asks = self.play(sample_round(), self.refusing_first()).asks
        assert [ask.corrects for ask in asks if ask.corrects] == [ask.tag for ask in asks if not ask.corrects]

    @pytest.mark.parametrize("reply", ["Nothing comes to mind.", Reply(Outcome.TIMED_OUT, REPLY)])
    def test_without_a_usable_reply_it_says_so_after_one_correction(self, reply: str | Reply) -> None:
        asks: list[Ask] = []
        try:
            drive(self.reflector().reflect(sample_round()), lambda ask: reply, asks)
        except Unusable:
            pass
        else:
            assert not asks, "it told a lesson although no session gave a usable answer"
        assert sorted(ask.corrects for ask in asks if ask.corrects) == sorted(a.tag for a in asks if not a.corrects)

    def refusing_first(self) -> Answers:
        """Answers that cannot be used where something is asked for the first time."""
        return lambda ask: self.answer() if ask.corrects else "Nothing comes to mind."
