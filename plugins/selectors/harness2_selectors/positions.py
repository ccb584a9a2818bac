"""`first` and `random`: no session, no look at the candidates. What a selector has to beat."""

from __future__ import annotations

from harness2_core.api import Ballot, Choice, Dialogue


class First:
    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        return Choice(ballot.ids[0], "the first of the ballot, unseen")

    def sessions(self, candidates: int) -> int:  # noqa: ARG002 - the protocol's
        return 0


class Random:
    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        return Choice(ballot.random().choice(ballot.ids), "drawn by the seed of the ballot, unseen")

    def sessions(self, candidates: int) -> int:  # noqa: ARG002 - the protocol's
        return 0
