"""How a run of an agent ended: what all agents have in common, from what was seen to the words that are kept.

What an agent tells of its end, and in which words, its own plugin knows. Who stopped it from outside, and which error
was the last word of a run instead of an episode in it, is told alike for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from attrs import evolve

from harness2_core.api import Ending, Event, Exit, Failure, Outcome, Trajectory, Usage

from .failures import Kind, Problem

_STDERR_CHARS: Final = 2_000


def trajectory_of(events: Sequence[Event], ending: str, usage: Usage, notes: Iterable[str], exit: Exit) -> Trajectory:
    """All that is known of a run. `ending`, where there are words, is its last event; the time is that of `exit`."""
    return Trajectory(
        (*events, Failure(ending)) if ending else tuple(events),
        evolve(usage, elapsed_ms=exit.usage.elapsed_ms),
        (*notes, "its output was longer than what is kept") if exit.truncated else tuple(notes),
    )


def text_of(chunks: Iterable[bytes]) -> str:
    """A stream as text, whatever bytes it is made of."""
    return b"".join(chunks).replace(b"\x00", b"").decode("utf-8", "replace")


def stopped(exit: Exit) -> str:
    """Who or what stopped the agent; empty when it ended by itself."""
    if exit.timed_out:
        return "the agent was stopped at its time limit"
    if exit.usage.exceeded:
        return f"the agent was stopped: it used more {exit.usage.exceeded} than allowed"
    return "" if exit.signal is None else f"the agent was ended by signal {exit.signal}"


def last_said(stderr: str) -> str:
    """The end of what an agent wrote to standard error, as much as fits into a sentence."""
    return stderr.strip()[-_STDERR_CHARS:]


def with_code(exit: Exit, said: str = "") -> str:
    """An exit code in words, and what was said with it."""
    return f"the agent ended with exit code {exit.code}" + (f": {said}" if said else "")


def last_problem(trajectory: Trajectory, beginning: str, read: Callable[[str], Problem]) -> Problem | None:
    """The last `Failure` whose text begins so, when only other failures followed: after work, an error was none.

    `read` is given its text without the beginning.
    """
    for event in reversed(trajectory.events):
        if not isinstance(event, Failure):
            return None
        if event.text.startswith(beginning):
            return read(event.text.removeprefix(beginning))
    return None


def outcome_of(trajectory: Trajectory, out_of_steps: str, problem: Problem | None) -> Ending | None:
    """Out of steps, refused, or broken off for the model's own doing; `None`: as the exit code says.

    `out_of_steps` is how the text of a `Failure` begins that tells of it; `problem` the last word of the run.
    """
    for event in reversed(trajectory.events):
        if isinstance(event, Failure) and event.text.startswith(out_of_steps):
            return Ending(Outcome.OUT_OF_STEPS, event.text)
    if problem is None:
        return None
    if problem.kind is Kind.REFUSAL:
        return Ending(Outcome.REFUSED, problem.said)
    return Ending(Outcome.CRASHED, problem.said) if problem.kind is Kind.OVERFLOW else None
