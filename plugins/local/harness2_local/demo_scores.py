"""Scores of a demo: base beside adopted, by task and mode, and their paired difference. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from attrs import frozen

from harness2_core.sweep.read import Row


@frozen
class Scored:
    """What a mode delivered for a task, beside base. `None` is ungraded, and never zero."""

    task: str
    mode: str
    """Its token."""
    label: str
    """The rollout that it delivered."""
    base: Decimal | None
    """Mean of the graded bases."""
    adopted: Decimal | None
    delivered: bool

    @property
    def gain(self) -> Decimal | None:
        return None if self.base is None or self.adopted is None else self.adopted - self.base


@frozen
class Paired:
    """Differences from base over the `n` tasks that are graded in both."""

    n: int
    mean: Decimal | None
    better: int
    same: int
    worse: int


def scored(rows: Sequence[Row]) -> tuple[Scored, ...]:
    """One for each task and mode that picked something, in the order of `rows`."""
    bases: dict[str, list[Decimal]] = {}
    for row in rows:
        if not row.mode and row.score is not None:
            bases.setdefault(row.task, []).append(Decimal(row.score))
    return tuple(
        Scored(
            row.task,
            row.mode,
            row.label,
            mean(bases.get(row.task, ())),
            None if row.score is None else Decimal(row.score),
            row.delivered,
        )
        for row in rows
        if row.picked
    )


def paired(items: Iterable[Scored]) -> Paired:
    gains = [item.gain for item in items if item.gain is not None]
    return Paired(
        len(gains),
        mean(gains),
        sum(gain > 0 for gain in gains),
        sum(gain == 0 for gain in gains),
        sum(gain < 0 for gain in gains),
    )


def mean(values: Sequence[Decimal]) -> Decimal | None:
    """`None` of nothing."""
    return sum(values, Decimal(0)) / len(values) if values else None
