"""Selectors, reflectors and modes: pure and deterministic, tested without mocks."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from harness2_core.model.plan import Plan
from harness2_core.model.strategy import Ballot, Choice, Dialogue, Lesson, Round
from harness2_core.model.templates import Templates


@runtime_checkable
class Selector(Protocol):
    """Picks one of at least two candidates. Raises `Unusable` when it cannot: core then falls back and marks it."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        """A dialogue that ends with the id of one of `ballot.candidates`, and why."""


@runtime_checkable
class Reflector(Protocol):
    """Distils at most one lesson of a round. `None`: there is nothing to tell later tasks."""

    def reflect(self, round: Round) -> Dialogue[Lesson | None]:
        """A dialogue that ends with a lesson. Whatever it raises is recorded, and undoes nothing."""


@runtime_checkable
class CountsSessions(Protocol):
    """A selector or reflector that can tell beforehand how many sessions it asks for; others are taken to ask for one.

    A limit of sessions keeps room for them before a mode of a task begins.
    """

    def sessions(self, candidates: int) -> int:
        """At most so many, corrections aside, for a ballot (a round) of so many finals."""


@runtime_checkable
class Mode(Protocol):
    """A pure function from k to a plan; `base1..basek` are given."""

    def plan(self, k: int) -> Plan:
        """The plan for `k` bases; always the same for one `k`. Raises `InvalidValue` for a `k` it has none for."""


@runtime_checkable
class ShipsTemplates(Protocol):
    """A mode with mission texts of its own: stage template name -> text."""

    def templates(self) -> Templates:
        """Added to those of core; a name that core has is replaced for this mode: its stages, votes and reflections."""
