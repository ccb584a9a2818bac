"""`blind`: one session reads all candidates and names one; an unusable reply is asked for once more."""

from __future__ import annotations

from harness2_core.api import Ask, Ballot, Choice, Dialogue, asked, choice_in


class Blind:
    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        ask = Ask("blind", ballot.mission(), ballot.evidence)
        return (yield from asked(ask, lambda text: choice_in(text, ballot.ids)))
