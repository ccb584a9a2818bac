"""How a run of Codex ended, in words for its trajectory, and whose doing that was.

Codex ends with exit code 1 when it gives up on the provider, and when it does not even start; the first is told by an
event, the second by a last line of plain text. Exit code 0 means that the model had no more to do.
"""

from __future__ import annotations

from typing import Final

from harness2_agents.ending import stopped, with_code
from harness2_agents.failures import Kind, Problem, problem_in

from harness2_core.api import Ending, Exit, Failure, Lost, Outcome, Trajectory

from .reading import OUT_OF_STEPS, TURN_FAILED, WAITING

NEVER_BEGAN: Final = "codex did not start: "
"""How the text of a `Failure` begins when no conversation was opened: nothing of the harness or task took part."""

_CUT: Final = "reason: max_output_tokens"
"""The model said more than one answer may hold."""
_SETUP: Final = ("Missing environment variable",)


def ending_words(exit: Exit, *, began: bool, gave_up: bool, said: str) -> str:
    """What the stream does not say of an end that is not good; empty when there is nothing to say."""
    by = stopped(exit)
    if by or not exit.code or gave_up:
        return by
    return with_code(exit) if began else NEVER_BEGAN + (said or f"it ended with exit code {exit.code}")


def loss_in(trajectory: Trajectory) -> Lost | None:
    """The loss that Codex tells of; `None` when the model or the agent did what happened."""
    for text in _failures(trajectory, NEVER_BEGAN):
        return Lost("worker", NEVER_BEGAN + text)
    texts = [*_failures(trajectory, TURN_FAILED), *_failures(trajectory, WAITING)]
    problems = [_problem(text) for text in texts]
    losses = [problem.lost() for problem in problems]
    return losses[-1] if losses else None


def outcome_in(trajectory: Trajectory, *, gave_up: bool) -> Ending | None:
    """Out of steps, refused, or broken off for the model's own doing; `None`: as the exit code says."""
    for text in _failures(trajectory, OUT_OF_STEPS):
        return Ending(Outcome.OUT_OF_STEPS, OUT_OF_STEPS + text)
    for text in _failures(trajectory, TURN_FAILED) if gave_up else ():
        problem = _problem(text)
        if problem.kind is Kind.REFUSAL:
            return Ending(Outcome.REFUSED, problem.said)
        if problem.kind is Kind.OVERFLOW:
            return Ending(Outcome.CRASHED, problem.said)
    return None


def _problem(text: str) -> Problem:
    """What Codex gives up on is the provider's fault, unless its words say otherwise; for some it has its own."""
    if text.startswith(_SETUP):
        return Problem(Kind.ACCESS, text)
    if _CUT in text:
        return Problem(Kind.OVERFLOW, text)
    return problem_in(text) or Problem(Kind.SERVICE, text)


def _failures(trajectory: Trajectory, beginning: str) -> list[str]:
    texts = [event.text for event in trajectory.events if isinstance(event, Failure)]
    return [text.removeprefix(beginning) for text in texts if text.startswith(beginning)]
