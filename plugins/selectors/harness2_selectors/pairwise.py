"""`pairwise`: every pair of candidates in both orders, each in a session of its own; the most wins is picked.

n candidates cost n(n-1) sessions. A pair whose winner changes with the order tells of position bias; how often that
happened, and how often the one named first won, is part of the reason. Ties go to the first in ballot order, which is
shuffled.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import permutations
from typing import TypeAlias

from harness2_core.api import Ask, Ballot, Choice, Dialogue, Unusable, asked_all, choice_in

Pair: TypeAlias = tuple[str, str]


class Pairwise:
    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        if len(ballot.ids) == 1:
            return Choice(ballot.ids[0], "there is no other")
        pairs = list(permutations(ballot.ids, 2))
        answers = yield from asked_all([(_ask(ballot, pair), partial(choice_in, ids=pair)) for pair in pairs])
        votes = {pair: a for pair, a in zip(pairs, answers, strict=True) if not isinstance(a, Unusable)}
        if not votes:
            raise Unusable("none of the comparisons of pairs was answered")
        wins = Counter(vote.id for vote in votes.values())
        best = max(ballot.ids, key=lambda id: wins[id])  # the first of equals
        whys = [vote.why for vote in votes.values() if vote.id == best and vote.why]
        return Choice(best, "\n".join([_tally(votes, wins, len(pairs)), *whys[:1]]))

    def sessions(self, candidates: int) -> int:
        return candidates * (candidates - 1)


def _ask(ballot: Ballot, pair: Pair) -> Ask:
    return Ask(f"pair_{pair[0]}_{pair[1]}".lower(), ballot.mission(pair), ballot.narrowed(pair))


def _tally(votes: dict[Pair, Choice], wins: Counter[str], asked: int) -> str:
    both = [pair for pair in votes if pair[0] < pair[1] and pair[::-1] in votes]
    turned = sum(votes[pair].id != votes[pair[::-1]].id for pair in both)
    first = sum(vote.id == pair[0] for pair, vote in votes.items())
    won = ", ".join(f"{id} {count}" for id, count in sorted(wins.items(), key=lambda item: (-item[1], item[0])))
    return (
        f"Wins: {won} ({len(votes)} of {asked} comparisons answered). Position bias: the one named first won {first} "
        f"of {len(votes)}; {turned} of {len(both)} pairs changed their winner with the order."
    )
