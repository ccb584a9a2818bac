"""How a run of Claude Code ended, in words for its trajectory, and whose doing that was.

It ends with exit code 1 when a request failed for good, when the model refused, when it was out of turns, and when it
could not even start: the first three are told by events, the last on standard error.
"""

from __future__ import annotations

from typing import Final

from harness2_agents.ending import last_problem, last_said, outcome_of, stopped, with_code
from harness2_agents.failures import Kind, Problem, problem_in

from harness2_core.api import Ending, Exit, Failure, Lost, Trajectory

from .reading import GAVE_UP, OUT_OF_STEPS

NEVER_BEGAN: Final = "claude did not start: "
"""How the text of a `Failure` begins when no conversation was opened: nothing of the harness or task took part."""
_OWN_DOING: Final = ("max_output_tokens",)
"""Errors of Claude Code that are the model's doing, by name."""


def ending_words(exit: Exit, *, began: bool, told: bool, stderr: str) -> str:
    """What the stream does not say of an end that is not good; empty when there is nothing to say."""
    by = stopped(exit)
    if by or not exit.code or told:
        return by
    said = last_said(stderr)
    return with_code(exit, said) if began else NEVER_BEGAN + (said or f"it ended with exit code {exit.code}")


def loss_in(trajectory: Trajectory, exit: Exit) -> Lost | None:
    """The loss that Claude Code tells of; `None` when the model or the agent did what happened."""
    if exit.code == 0 and not exit.timed_out:
        return None
    for event in trajectory.events:
        if isinstance(event, Failure) and event.text.startswith(NEVER_BEGAN):
            return Lost("worker", event.text)
    problem = last_problem(trajectory, GAVE_UP, _problem)
    return None if problem is None else problem.lost()


def outcome_in(trajectory: Trajectory) -> Ending | None:
    """`None`: as the exit code says."""
    return outcome_of(trajectory, OUT_OF_STEPS, last_problem(trajectory, GAVE_UP, _problem))


def _problem(said: str) -> Problem:
    own = any(name in said for name in _OWN_DOING)
    return Problem(Kind.OVERFLOW, said) if own else problem_in(said) or Problem(Kind.SERVICE, said)
