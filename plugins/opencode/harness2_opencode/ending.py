"""How a run of OpenCode ended, in words for its trajectory, and whose doing that was.

OpenCode ends with exit code 1 when it gives up on the provider, which it tells by an event, and when it cannot even
start, which it tells by an event or on standard error; with any code when the observer ended it. An error that was
followed by work was none in the end.
"""

from __future__ import annotations

from typing import Final

from harness2_agents.failures import Kind, Problem, problem_in

from harness2_core.api import Ending, Exit, Failure, Lost, Outcome, Trajectory

from .reading import OUT_OF_STEPS, PROVIDER_FAILED

_ENDED: Final = "the agent "
_OWN_DOING: Final = ("MessageOutputLengthError",)
"""Errors of OpenCode that are the model's doing, by name."""
_STDERR_CHARS: Final = 2_000


def ending_words(exit: Exit, *, told: bool, stderr: str) -> str:
    """What the stream does not say of an end that is not good; empty when there is nothing to say."""
    if exit.timed_out:
        return f"{_ENDED}was stopped at its time limit"
    if exit.usage.exceeded:
        return f"{_ENDED}was stopped: it used more {exit.usage.exceeded} than allowed"
    if exit.signal is not None:
        return f"{_ENDED}was ended by signal {exit.signal}"
    if not exit.code or told:
        return ""
    said = stderr.strip()[-_STDERR_CHARS:]
    return f"{_ENDED}ended with exit code {exit.code}" + (f": {said}" if said else "")


def loss_in(trajectory: Trajectory, exit: Exit) -> Lost | None:
    """The loss that OpenCode tells of; `None` when the model or the agent did what happened."""
    problem = _last_problem(trajectory)
    if problem is not None:
        return problem.lost()
    began = any(not isinstance(event, Failure) for event in trajectory.events)
    if began or trajectory.usage.tokens or exit.timed_out or not exit.code:
        return None
    said = "; ".join(event.text for event in trajectory.events if isinstance(event, Failure))
    return Lost("worker", f"opencode did not start: {said or 'it said nothing'}")


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
    """What the provider was last heard to say, when nothing but the end followed."""
    for event in reversed(trajectory.events):
        if not isinstance(event, Failure):
            return None
        if event.text.startswith(PROVIDER_FAILED):
            said = event.text.removeprefix(PROVIDER_FAILED)
            unnamed = Kind.OVERFLOW if said.startswith(_OWN_DOING) else Kind.SERVICE
            return problem_in(said) or Problem(unnamed, said)
    return None
