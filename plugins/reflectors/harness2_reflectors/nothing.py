"""`none`: tells nothing. The adopted harness enters the library with the mark that there is no lesson."""

from __future__ import annotations

from harness2_core.api import Dialogue, Lesson, Round


class Nothing:
    def reflect(self, round: Round) -> Dialogue[Lesson | None]:  # noqa: ARG002 - the protocol's
        yield from ()
        return None

    def sessions(self, candidates: int) -> int:  # noqa: ARG002 - the protocol's
        return 0
