"""What follows when an attempt came to nothing: repeated how often, after which wait, and what stops meanwhile.

One table. The trade-offs: a wait costs time, a repeat may cost money, and giving up too early turns a bad hour of a
provider into missing data. A rate limit is a matter of waiting, an exhausted budget is not; a full disk would fail
whatever is started next. What an agent did (finished, timed out, out of steps, refused, crashed) is a result for a
rollout and a grading, and never repeated; a session that did not answer is asked again, for nothing can be learnt from
it.

Each cause has its own count: a request may wait out a rate limit and then lose its connection once, and be tried again.
Lost attempts count as money and time spent, never as rollouts or sessions of the plan. Cancelled ones count as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import frozen

from harness2_core.model.channel import Outcome
from harness2_core.model.errors import CAUSES, InvalidValue

CANCELLED: Final = "cancelled"
"""Cause of an attempt that we ended ourselves: it may be asked for again as if it had never been."""

LONGEST_ASKED: Final = 86_400
"""Seconds. Who is told to come back later than that has no use of a run that waits: nothing more of that model is
begun, and a resume asks again."""


@frozen
class Row:
    """Repeats after the first try, seconds before the first repeat, how the wait grows, its cap, what stops after."""

    repeats: int
    wait: int
    growth: int
    longest: int
    stops: str
    """After the last repeat: `nothing` (the request is dead), `model` or `sweep` (left undone, for a resume)."""
    why: str


LOSSES: Final[Mapping[str, Row]] = {
    "rate-limit": Row(8, 15, 2, 900, "nothing", "waiting mends it; the other side says how long, or the wait grows"),
    "provider": Row(3, 10, 3, 300, "nothing", "overload and internal errors of a service pass in minutes"),
    "network": Row(4, 5, 3, 300, "nothing", "a lost connection costs little to try again"),
    "budget": Row(0, 0, 1, 0, "model", "no waiting brings money back: nothing more of this model, the rest goes on"),
    "access": Row(0, 0, 1, 0, "model", "a refused key or an unknown model stays so until a person mends the settings"),
    "sandbox": Row(1, 5, 1, 5, "nothing", "a container that did not start may start; one that cannot never will"),
    "disk": Row(1, 30, 1, 30, "sweep", "a full disk fails whatever comes next, after it has been paid for"),
    "worker": Row(2, 2, 5, 60, "nothing", "a worker may have died; a plugin that is broken fails again at once"),
}
"""Cause of a loss -> what follows; the same for rollouts, sessions and gradings."""

UNANSWERED: Final[Mapping[str, Row]] = {
    Outcome.REFUSED.value: Row(1, 0, 1, 0, "nothing", "refusals are drawn like answers; a second one is meant"),
    Outcome.TIMED_OUT.value: Row(1, 0, 1, 0, "nothing", "it took its whole time limit already; once more, no oftener"),
    Outcome.OUT_OF_STEPS.value: Row(1, 0, 1, 0, "nothing", "it took all its steps already; once more, no oftener"),
    Outcome.CRASHED.value: Row(1, 10, 1, 10, "nothing", "an agent that ended without an answer may give one"),
}
"""Outcome of a session that gave no answer -> what follows."""


@frozen
class Again:
    """Ask again after so many seconds on the engine's clock."""

    seconds: int


@frozen
class Dead:
    """Enough tries: the record says that nothing came of it, and the rest goes on."""


@frozen
class Halt:
    """No record: nothing more is begun within `scope` (`model` or `sweep`), and a resume asks again."""

    scope: str


Decision: TypeAlias = Again | Dead | Halt


def is_final(kind: str, outcome: Outcome) -> bool:
    """Whether an attempt with this outcome is put under its request's digest. `kind`: rollout, session or grade."""
    if kind == "session":
        return outcome is Outcome.FINISHED
    return outcome is not Outcome.LOST


def decide(kind: str, cause: str, tries: int, wait_seconds: int = 0) -> Decision:
    """What follows the `tries`-th try (from 1) that a request of this kind has lost by this cause.

    `cause` is one of `CAUSES`, or of a session the outcome that was no answer. `wait_seconds` is what the other side
    asked for: it is honoured when longer than the table's wait, up to `LONGEST_ASKED`.
    """
    if cause == CANCELLED:
        return Again(0)
    row = row_of(kind, cause)
    if wait_seconds > LONGEST_ASKED:
        return Halt("model")
    if tries > row.repeats:
        return Dead() if row.stops == "nothing" else Halt(row.stops)
    waited = min(row.longest, row.wait * row.growth ** (tries - 1))
    return Again(max(waited, wait_seconds))


def row_of(kind: str, cause: str) -> Row:
    """The row of the table; `InvalidValue` when nothing is said about `cause`, as of a final outcome."""
    if cause in LOSSES:
        return LOSSES[cause]
    if kind == "session" and cause in UNANSWERED:
        return UNANSWERED[cause]
    raise InvalidValue(
        f"{cause!r} is no loss of a {kind}",
        f"give one of {', '.join(CAUSES)}{'; or ' + ', '.join(UNANSWERED) if kind == 'session' else ''}",
    )
