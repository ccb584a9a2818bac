from __future__ import annotations

from harness2_selectors.blind import Blind
from harness2_selectors.consensus import Consensus
from harness2_selectors.pairwise import Pairwise
from harness2_selectors.positions import First, Random
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Ask, Choice
from harness2_core.testing.dialogues import drive, in_turn
from harness2_core.testing.selector_contract import SAMPLES, SelectorContract, sample_ballot, shown_ids


class TestBlind(SelectorContract):
    factory = "harness2_selectors.blind:Blind"


class TestPairwise(SelectorContract):
    factory = "harness2_selectors.pairwise:Pairwise"


class TestConsensus(SelectorContract):
    factory = "harness2_selectors.consensus:Consensus"


class TestFirst(SelectorContract):
    factory = "harness2_selectors.positions:First"
    by_content = False


class TestRandom(SelectorContract):
    factory = "harness2_selectors.positions:Random"
    by_content = False


THREE = sample_ballot(dict(zip("ABC", SAMPLES, strict=False)))


def choosing(id: str) -> str:
    return f"```choice\n{id}\n```"


def test_blind_asks_one_session_about_all_candidates() -> None:
    played = drive(Blind().select(THREE), in_turn("<why>complete</why>\n```choice\ncandidate `b`\n```"))
    assert played.result == Choice("B", "complete")
    assert [shown_ids(ask) for ask in played.asks] == [("A", "B", "C")]


def test_blind_tells_the_second_session_what_was_wrong_with_the_first_reply() -> None:
    played = drive(Blind().select(THREE), in_turn(choosing("D"), choosing("A")))
    assert played.result.id == "A"
    assert "none of A, B, C" in played.asks[1].mission


def test_pairwise_asks_each_pair_in_both_orders_side_by_side() -> None:
    dialogue = Pairwise().select(THREE)
    asks = next(dialogue)
    assert [ask.tag for ask in asks] == ["pair_a_b", "pair_a_c", "pair_b_a", "pair_b_c", "pair_c_a", "pair_c_b"]
    assert all(f"They are {ask.tag[5].upper()}, {ask.tag[7].upper()}." in ask.mission for ask in asks)
    assert [shown_ids(ask) for ask in asks[:2]] == [("A", "B"), ("A", "C")]


def test_pairwise_reports_a_bias_for_the_one_named_first() -> None:
    played = drive(Pairwise().select(THREE), lambda ask: choosing(ask.tag.split("_")[1].upper()))
    assert "named first won 6 of 6; 3 of 3 pairs changed" in played.result.why
    assert played.result.id == "A"  # all have two wins: the first in ballot order


def test_pairwise_reports_no_bias_where_there_is_none() -> None:
    played = drive(Pairwise().select(THREE), lambda ask: choosing(max(shown_ids(ask))))
    assert played.result.id == "C"
    assert played.result.why.startswith("Wins: C 4, B 2 (6 of 6 comparisons answered)")
    assert "named first won 3 of 6; 0 of 3 pairs changed" in played.result.why


def test_pairwise_goes_by_the_comparisons_that_were_answered() -> None:
    def answers(ask: Ask) -> str:
        return "I cannot say." if "a" in ask.tag.removeprefix("pair").removesuffix("fix") else choosing("C")

    played = drive(Pairwise().select(THREE), answers)
    assert played.result.id == "C"
    assert "(2 of 6 comparisons answered)" in played.result.why


def test_consensus_takes_the_candidate_most_like_the_others() -> None:
    ballot = sample_ballot(dict(zip("ABCD", SAMPLES, strict=True)))
    assert drive(Consensus().select(ballot), in_turn()).result.id == "B"


@given(st.lists(st.text("ab \n", max_size=12), min_size=2, max_size=5, unique=True).flatmap(st.permutations))
def test_consensus_picks_the_same_content_whatever_the_ids(contents: list[str]) -> None:
    def picked(order: list[str]) -> str:
        ballot = sample_ballot(dict(zip("ABCDE", order, strict=False)))
        return ballot.candidates[drive(Consensus().select(ballot), in_turn()).result.id]["answer.txt.txt"]

    assert picked(contents) == picked(sorted(contents))


def test_first_goes_by_ballot_order_and_not_by_the_alphabet() -> None:
    ballot = sample_ballot({"AA": "x", "B": "y"})
    assert drive(First().select(ballot), in_turn()).result.id == "B"


def test_random_follows_the_seed_of_the_ballot() -> None:
    picked = [
        drive(Random().select(sample_ballot(dict.fromkeys("ABCDEFGH", "x"), seed)), in_turn()).result.id
        for seed in [*range(8), *range(8)]
    ]
    assert picked[:8] == picked[8:]
    assert len(set(picked)) > 2
