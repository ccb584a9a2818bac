"""The contract of a selector. Subclass it as `TestX(SelectorContract)` and give `factory`.

    class TestBlind(SelectorContract):
        factory = "harness2_selectors.blind:Blind"

A selector that looks at no content sets `by_content = False`. One whose sessions answer otherwise than by a `choice`
block overrides `answer`.
"""

from __future__ import annotations

import pkgutil
import random
import re
from collections.abc import Mapping
from itertools import count, permutations
from typing import ClassVar

import pytest

from harness2_core.api import (
    Ask,
    Ballot,
    BenchWords,
    Choice,
    CountsSessions,
    FrozenMap,
    Manifest,
    Outcome,
    Reply,
    Selector,
    Unusable,
    blob_entry,
)
from harness2_core.method.missions import core_templates, words_of
from harness2_core.model.namespace import LABEL

from .dialogues import Answers, Played, drive
from .purity import reached_for

SAMPLES = (
    "total 12 rows 3\nsum 40\nchecked twice\n",
    "total 12 rows 3\nsum 40\n",
    "total 11 rows 3\nsum 40\n",
    "nothing of the kind\n",
)
"""Contents of candidates: the second is most like the others."""


def sample_ballot(contents: Mapping[str, str], seed: int = 7) -> Ballot:
    """A ballot of candidates (id -> text of their one file), laid out as core does."""
    files: dict[str, bytes] = {"task.md": b"Add up the ledger.\n"}
    for id, text in contents.items():
        files[f"candidates/{id}.md"] = f"# Candidate {id}\n\n- `answer.txt.txt`\n".encode()
        files[f"candidates/{id}/answer.txt.txt"] = text.encode()
    return Ballot(
        candidates=FrozenMap({id: FrozenMap({"answer.txt.txt": text}) for id, text in contents.items()}),
        evidence=Manifest({path: blob_entry(data) for path, data in files.items()}),
        words=words_of(BenchWords("Add up ledgers.")),
        seed=seed,
        templates=core_templates(),
    )


class SelectorContract:
    """A selector is pure: its pick follows from the ballot and the replies. It knows ids and contents, nothing else."""

    factory: ClassVar[str]
    by_content: ClassVar[bool] = True
    """The pick follows from what was delivered, whichever ids the candidates bear."""

    def selector(self) -> Selector:
        made = pkgutil.resolve_name(self.factory)()
        assert isinstance(made, Selector)
        return made

    def answer(self, id: str) -> str:
        """A session's reply that names `id`."""
        return f"<why>it is complete</why>\n\n```choice\n{id}\n```\n"

    def preferring(self, ballot: Ballot) -> Answers:
        """Sessions that prefer the candidate whose content comes first in `SAMPLES`, among those they are shown."""
        rank = {id: SAMPLES.index(next(iter(views.values()))) for id, views in ballot.candidates.items()}
        return lambda ask: self.answer(min(shown_ids(ask), key=lambda id: (rank[id], id)))

    def play(self, ballot: Ballot, answers: Answers | None = None) -> Played[Choice]:
        return drive(self.selector().select(ballot), answers or self.preferring(ballot))

    def test_it_picks_a_candidate_of_the_ballot(self) -> None:
        for number in (2, 3, 4):
            ballot = sample_ballot(dict(zip("ABCD"[:number], SAMPLES, strict=False)))
            assert self.play(ballot).result.id in ballot.candidates

    def test_the_same_ballot_and_replies_give_the_same_pick_and_asks(self) -> None:
        ballot = sample_ballot(dict(zip("ABCD", SAMPLES, strict=True)))
        random.seed(1)
        once = self.play(ballot)
        random.seed(2)  # the global generator must not matter
        assert self.play(ballot) == once

    def test_it_looks_at_nothing_but_the_ballot(self) -> None:
        """Labels, run ids, paths and harnesses are not on it; who reads no file finds none of them elsewhere."""
        ballot = sample_ballot(dict(zip("ABCD", SAMPLES, strict=True)))
        self.play(ballot)  # what is imported on the way is imported now
        _, reached = reached_for(lambda: self.play(ballot), self.factory.partition(":")[0])
        assert reached == []

    def test_one_candidate_is_the_one(self) -> None:
        ballot = sample_ballot({"A": SAMPLES[0]})
        assert self.play(ballot).result.id == "A"

    def test_sessions_are_shown_nothing_but_the_ballot(self) -> None:
        ballot = sample_ballot(dict(zip("ABC", SAMPLES, strict=False)))
        for ask in self.play(ballot).asks:
            assert set(ask.evidence.entries.items()) <= set(ballot.evidence.entries.items())

    def test_tags_are_labels_and_each_is_asked_once(self) -> None:
        ballot = sample_ballot(dict(zip("ABC", SAMPLES, strict=False)))
        asks = self.play(ballot, self.refusing_first(self.preferring(ballot))).asks
        tags = [ask.tag for ask in asks]
        assert len(set(tags)) == len(tags)
        assert all(re.fullmatch(LABEL, tag) for tag in tags)

    def test_the_ids_do_not_matter(self) -> None:
        if not self.by_content:
            pytest.skip("looks at no content")
        for number in (2, 3, 4):
            picked = set()
            for order in permutations(SAMPLES[:number]):
                ballot = sample_ballot(dict(zip("ABCD", order, strict=False)))
                picked.add(ballot.candidates[self.play(ballot).result.id]["answer.txt.txt"])
            assert len(picked) == 1

    def test_more_candidates_than_letters_are_no_trouble(self) -> None:
        ids = [*map(chr, range(ord("A"), ord("Z") + 1)), "AA"]
        ballot = sample_ballot({id: f"{SAMPLES[0]}{index}\n" for index, id in enumerate(ids)})
        picked = self.play(ballot, lambda ask: self.answer(sorted(shown_ids(ask))[0])).result.id
        assert picked in ballot.candidates

    def test_equal_merits_are_decided_the_same_way_each_time(self) -> None:
        ballot = sample_ballot({"A": "x y\n", "B": "x z\n"})
        assert self.play(ballot, self.alternating()) == self.play(ballot, self.alternating())

    def test_it_asks_for_no_more_sessions_than_it_says_beforehand(self) -> None:
        selector = self.selector()
        for number in (2, 3, 4):
            ballot = sample_ballot(dict(zip("ABCD", SAMPLES[:number], strict=False)))
            said = selector.sessions(number) if isinstance(selector, CountsSessions) else 1
            assert len(self.play(ballot).asks) <= said, "say it by a method `sessions`: see `CountsSessions`"

    def test_an_unusable_reply_is_asked_for_once_more(self) -> None:
        ballot = sample_ballot(dict(zip("ABC", SAMPLES, strict=False)))
        played = self.play(ballot, self.refusing_first(self.preferring(ballot)))
        corrected = [ask.corrects for ask in played.asks if ask.corrects]
        assert played.result.id in ballot.candidates
        assert corrected == [ask.tag for ask in played.asks if not ask.corrects]

    @pytest.mark.parametrize("reply", ["I cannot decide.", Reply(Outcome.TIMED_OUT, "```choice\nA\n```")])
    def test_without_a_usable_reply_it_says_so_after_one_correction(self, reply: str | Reply) -> None:
        ballot = sample_ballot(dict(zip("ABC", SAMPLES, strict=False)))
        asks: list[Ask] = []
        try:
            drive(self.selector().select(ballot), lambda ask: reply, asks)
        except Unusable:
            pass
        else:
            assert not asks, "it picked although no session gave a usable answer"
        assert sorted(ask.corrects for ask in asks if ask.corrects) == sorted(a.tag for a in asks if not a.corrects)

    def refusing_first(self, answers: Answers) -> Answers:
        """Answers that cannot be used where something is asked for the first time."""
        return lambda ask: answers(ask) if ask.corrects else "I cannot decide."

    def alternating(self) -> Answers:
        """Answers that name the first and the last candidate shown, in turn."""
        turns = count()
        return lambda ask: self.answer(sorted(shown_ids(ask))[-(next(turns) % 2)])


def shown_ids(ask: Ask) -> tuple[str, ...]:
    """The ids of the candidates that lie in an ask's evidence."""
    found = (re.fullmatch(r"candidates/([^/]+)\.md", path) for path in ask.evidence.entries)
    return tuple(match.group(1) for match in found if match)
