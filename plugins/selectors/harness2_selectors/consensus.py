"""`consensus`: the candidate that is most like the others, by the words of its text views. No session.

Likeness of two candidates is the share of common words: over pairs of path and word, counted with repetition, the
intersection over the union. It is exact, and does not depend on ids: ties go by content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from harness2_core.api import Ballot, Choice, Dialogue, canonical


class Consensus:
    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        words = {id: _words(ballot.candidates[id]) for id in ballot.ids}
        typical = {id: sum((_alike(words[id], words[o]) for o in words if o != id), Fraction()) for id in words}
        best = max(ballot.ids, key=lambda id: (typical[id], canonical(dict(ballot.candidates[id]))))
        mean = typical[best] / max(len(words) - 1, 1)
        return Choice(best, f"shares most with the other candidates: on average {float(100 * mean):.0f} % of the words")

    def sessions(self, candidates: int) -> int:  # noqa: ARG002 - the protocol's
        return 0


def _words(views: Mapping[str, str]) -> Counter[tuple[str, str]]:
    return Counter((path, word) for path, text in views.items() for word in text.split())


def _alike(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> Fraction:
    union = (one | other).total()
    return Fraction((one & other).total(), union) if union else Fraction(1)
