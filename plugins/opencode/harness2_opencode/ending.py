"""How a run of OpenCode ended, in words for its trajectory, and whose doing that was.

OpenCode ends with exit code 1 when it gives up on the provider, which it tells by an event, and when it cannot even
start, which it tells by an event or on standard error; with any code when the observer ended it. An error that was
followed by work was none in the end.
"""

from __future__ import annotations

from typing import Final

from harness2_agents.ending import last_problem, last_said, outcome_of, stopped, with_code
from harness2_agents.failures import Kind, Problem, problem_in

from harness2_core.api import Ending, Exit, Failure, Lost, Trajectory

from .reading import OUT_OF_STEPS, PROVIDER_FAILED

_OWN_DOING: Final = ("MessageOutputLengthError",)
"""Errors of OpenCode that are the model's doing, by name."""


def ending_words(exit: Exit, *, told: bool, stderr: str) -> str:
    """What the stream does not say of an end that is not good; empty when there is nothing to say."""
    by = stopped(exit)
    return by if by or not exit.code or told else with_code(exit, last_said(stderr))


def loss_in(trajectory: Trajectory, exit: Exit) -> Lost | None:
    """The loss that OpenCode tells of; `None` when the model or the agent did what happened."""
    problem = last_problem(trajectory, PROVIDER_FAILED, _problem)
    if problem is not None:
        return problem.lost()
    began = any(not isinstance(event, Failure) for event in trajectory.events)
    if began or trajectory.usage.tokens or exit.timed_out or not exit.code:
        return None
    said = "; ".join(event.text for event in trajectory.events if isinstance(event, Failure))
    return Lost("worker", f"opencode did not start: {said or 'it said nothing'}")


def outcome_in(trajectory: Trajectory) -> Ending | None:
    """`None`: as the exit code says."""
    return outcome_of(trajectory, OUT_OF_STEPS, last_problem(trajectory, PROVIDER_FAILED, _problem))


def _problem(said: str) -> Problem:
    unnamed = Kind.OVERFLOW if said.startswith(_OWN_DOING) else Kind.SERVICE
    return problem_in(said) or Problem(unnamed, said)
