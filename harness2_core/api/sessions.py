"""Who runs improver-side sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from harness2_core.model.channel import Outcome, Usage
from harness2_core.model.requests import SessionRequest

from .context import Context
from .substrates import Substrate


@frozen
class Said:
    """What a proposer returns. Core harvests `context/harness` and makes the reply."""

    outcome: Outcome
    text: str
    usage: Usage = field(factory=Usage)
    note: str = ""


@runtime_checkable
class Proposer(Protocol):
    """Runs a session of any role. Core materialises, harvests, accepts and records around it."""

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        """`workspace/context/` holds the evidence; only `context/harness/` is to be edited. Raises `Lost`."""


@runtime_checkable
class DrivesAgent(Protocol):
    """A proposer whose sessions a substrate runs: core asks that one for prices, readiness and protocols in its place.

    The substrate's version and settings take part in the identity of the sessions.
    """

    @property
    def drives(self) -> str:
        """Name or token of the substrate; empty: the one whose harness is improved."""

    def unfit(self, agent: Substrate) -> str:
        """Why this substrate cannot run sessions, in words; empty when it can."""
