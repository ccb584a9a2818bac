"""What the scheduler and the preparation pool say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeAlias, TypeVar

from attrs import frozen

from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.requests import Request

from .graph import Key
from .slots import Group

R = TypeVar("R")
R_inv = TypeVar("R_inv")

Claim: TypeAlias = AbstractContextManager[bool]
"""Of a request, as a store gives it."""


@frozen
class Wanted:
    """One request that a node waits for. Requests of one non-empty `batch` may run together, up to `together`."""

    request: Request
    digest: Digest
    group: Group
    batch: str = ""
    together: int = 1


@frozen
class Wants:
    """A node's body asks for paid work: all of it must have a record before the body goes on."""

    missing: tuple[Wanted, ...]


@frozen
class Done(Generic[R]):
    result: R


@frozen
class Held:
    """A node, or an attempt, may not start, by a budget: nothing behind it starts either."""

    why: str


@frozen
class Admitted:
    """`state`: `served` (its record exists), `claimed`, `elsewhere` (another process has it), `held` (a budget)."""

    state: str
    claim: Claim | None = None
    why: str = ""


@frozen
class Repeat:
    """What to do about a lost attempt: `again` after some seconds, `dead` (recorded so), `held` (by a budget), or stop.

    `what` is then `stop-model` (nothing more of this group's model) or `stop-sweep`; `why` tells the user.
    """

    what: str
    seconds: float = 0.0
    why: str = ""


class Preparation(Protocol[R_inv]):
    """All that reads, builds or writes for the scheduler: called on the pool, never twice at once for a node."""

    def start(self, key: Key, results: Mapping[Key, R_inv]) -> Wants | Done[R_inv] | Held:
        """Begins a node's body, with the results of its task so far, and takes it to its first wish or its end."""

    def resume(self, key: Key) -> Wants | Done[R_inv] | Held:
        """Goes on with a body whose wanted requests all have records now."""

    def admit(self, wanted: tuple[Wanted, ...]) -> tuple[Admitted, ...]:
        """Claims requests that are about to start, after looking once more for their records."""

    def assignment(self, wanted: tuple[Wanted, ...]) -> Assignment: ...

    def repeat(self, wanted: tuple[Wanted, ...]) -> Assignment | Held:
        """The assignment of requests that are claimed since an earlier attempt; or the budget that is used up by now"""

    def lost(self, wanted: Wanted, ended: Ended, tries: int) -> Repeat:
        """Decides by the policy table; when it says dead, the record is written first.

        `tries`: how often it was lost by this cause in this process.
        """
