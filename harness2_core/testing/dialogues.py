"""Playing a dialogue of a selector or reflector without any session: its asks are answered from code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from attrs import frozen

from harness2_core.api import Ask, Dialogue, Outcome, Reply

T = TypeVar("T")
Answers: TypeAlias = Callable[[Ask], str | Reply]


@frozen
class Played(Generic[T]):
    """What a dialogue came to, and every ask on the way, in order."""

    result: T
    asks: tuple[Ask, ...]


def drive(dialogue: Dialogue[T], answers: Answers, seen: list[Ask] | None = None) -> Played[T]:
    """Runs `dialogue` to its end. A text stands for a finished reply; what the dialogue raises passes through.

    `seen` collects the asks, for when it raises.
    """
    asks: list[Ask] = [] if seen is None else seen
    try:
        asked = next(dialogue)
        while True:
            asks += asked
            asked = dialogue.send(tuple(_reply(answers(ask)) for ask in asked))
    except StopIteration as end:
        return Played(end.value, tuple(asks))


def in_turn(*texts: str | Reply) -> Answers:
    """Answers that are given one after the other, whatever is asked; an `AssertionError` when they run out."""
    left = list(texts)

    def answer(ask: Ask) -> str | Reply:
        assert left, f"asked {ask.tag!r} after all {len(texts)} answers were given"
        return left.pop(0)

    return answer


def _reply(answer: str | Reply) -> Reply:
    return answer if isinstance(answer, Reply) else Reply(Outcome.FINISHED, answer)
