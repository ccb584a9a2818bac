"""Grading of what was delivered, after the method is done with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from harness2_core.model.check import a_decimal
from harness2_core.model.records import Verdict

from .context import Context


@frozen
class Item:
    """One thing that is judged. `weight` is a decimal string."""

    name: str
    weight: str = field(default="1", validator=a_decimal)
    text: str = ""


@frozen
class Grading:
    """Local copies from the store: what was delivered, its views, the sealed files, and the grader's own."""

    task: str
    deliverables: Path
    views: Path
    sealed: Path
    grader: Path
    source: Path
    """The task's inputs."""


@runtime_checkable
class Judge(Protocol):
    """Grades what a rollout delivered. Runs long after the method, which never learns of it."""

    def items(self, task: str, grader: Path) -> Sequence[Item] | None:
        """The items of a task; `None` when they are known only after a run."""

    def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:
        """Verdicts, each kept as it comes. A failure to judge is `passed=None`, never a zero."""
