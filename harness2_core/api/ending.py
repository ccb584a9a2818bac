"""How an agent ended: one rule for all agents, for rollouts and sessions alike.

What was lost comes first, for it says nothing of the agent. Then the time limit, which whoever ran it knows best; then
the agent's own word; then its exit code. One that ends well and has done nothing has failed, whatever its exit code.
"""

from __future__ import annotations

from typing import Final

from harness2_core.model.channel import Ending, Outcome
from harness2_core.model.process import Exit
from harness2_core.model.trajectory import Action, Assistant, FileChange, Observation, Trajectory

from .substrates import TellsLoss, TellsOutcome

IDLE: Final = Ending(Outcome.CRASHED, "it ended as if all were well and did nothing: no word, no action, no file")


def ending_of(agent: object, trajectory: Trajectory, exit: Exit, *, delivered: bool) -> Ending:
    """How a run of `agent` ended; raises `Lost` when what was seen is no doing of the agent.

    `delivered`: whether it left any file. What it left counts the same however it ended: it is kept, and the record's
    outcome says that it may be partial.
    """
    if isinstance(agent, TellsLoss):
        lost = agent.loss(trajectory, exit)
        if lost is not None:
            raise lost
    if exit.timed_out:
        return Ending(Outcome.TIMED_OUT)
    told = agent.outcome(trajectory, exit) if isinstance(agent, TellsOutcome) else None
    if told is not None and told.outcome is not Outcome.FINISHED:
        return told
    if told is None and exit.code != 0:
        return Ending(Outcome.CRASHED)
    return (told or Ending(Outcome.FINISHED)) if delivered or has_worked(trajectory) else IDLE


def has_worked(trajectory: Trajectory) -> bool:
    """Whether the agent said or did anything: reasoning alone is none, for nobody ever sees what came of it."""
    return any(
        (isinstance(event, Assistant | Observation) and bool(event.text.strip()))
        or isinstance(event, Action | FileChange)
        for event in trajectory.events
    )
