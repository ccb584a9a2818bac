"""How a run of Claude Code ended, in words for its trajectory, and whose doing that was.

It ends with exit code 1 when a request failed for good, when the model refused, when it was out of turns, and when it
could not even start: the first three are told by events, the last on standard error.
"""

from __future__ import annotations

from typing import Final

from harness2_agents.failures import Kind, Problem, problem_in

from harness2_core.api import Ending, Exit, Failure, Lost, Outcome, Trajectory

from .reading import GAVE_UP, OUT_OF_STEPS

NEVER_BEGAN: Final = "claude did not start: "
"""How the text of a `Failure` begins when no conversation was opened: nothing of the harness or task took part."""
_OWN_DOING: Final = ("max_output_tokens",)
"""Errors of Claude Code that are the model's doing, by name."""
_STDERR_CHARS: Final = 2_000


def ending_words(exit: Exit, *, began: bool, told: bool, stderr: str) -> str:
    """What the stream does not say of an end that is not good; empty when there is nothing to say."""
    if exit.timed_out:
        return "the agent was stopped at its time limit"
    if exit.usage.exceeded:
        return f"the agent was stopped: it used more {exit.usage.exceeded} than allowed"
    if exit.signal is not None:
        return f"the agent was ended by signal {exit.signal}"
    if not exit.code or told:
        return ""
    said = stderr.strip()[-_STDERR_CHARS:]
    if not began:
        return NEVER_BEGAN + (said or f"it ended with exit code {exit.code}")
    return f"the agent ended with exit code {exit.code}" + (f": {said}" if said else "")


def loss_in(trajectory: Trajectory, exit: Exit) -> Lost | None:
    """The loss that Claude Code tells of; `None` when the model or the agent did what happened."""
    if exit.code == 0 and not exit.timed_out:
        return None
    for event in trajectory.events:
        if isinstance(event, Failure) and event.text.startswith(NEVER_BEGAN):
            return Lost("worker", event.text)
    problem = _last_problem(trajectory)
    return None if problem is None else problem.lost()


def outcome_in(trajectory: Trajectory) -> Ending | None:
    """Out of steps, refused, or broken off for the model's own doing; `None`: as the exit code says."""
    for event in reversed(trajectory.events):
        if isinstance(event, Failure) and event.text.startswith(OUT_OF_STEPS):
            return Ending(Outcome.OUT_OF_STEPS, event.text)
    problem = _last_problem(trajectory)
    if problem is None:
        return None
    if problem.kind is Kind.REFUSAL:
        return Ending(Outcome.REFUSED, problem.said)
    return Ending(Outcome.CRASHED, problem.said) if problem.kind is Kind.OVERFLOW else None


def _last_problem(trajectory: Trajectory) -> Problem | None:
    """What a request came to, when nothing but the end followed: an error that was followed by work was none."""
    for event in reversed(trajectory.events):
        if not isinstance(event, Failure):
            return None
        if event.text.startswith(GAVE_UP):
            said = event.text.removeprefix(GAVE_UP)
            own = any(name in said for name in _OWN_DOING)
            return Problem(Kind.OVERFLOW, said) if own else problem_in(said) or Problem(Kind.SERVICE, said)
    return None
