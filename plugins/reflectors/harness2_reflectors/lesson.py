"""`lesson`: one session reads the whole round; an unusable reply is asked for once more."""

from __future__ import annotations

from harness2_core.api import Ask, Dialogue, Lesson, Round, asked, lesson_in


class Reflect:
    def reflect(self, round: Round) -> Dialogue[Lesson | None]:
        return (yield from asked(Ask("lesson", round.mission(), round.evidence), lesson_in))
