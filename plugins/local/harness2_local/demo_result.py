"""What a demo came to, read from the records of its experiment once all is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from attrs import frozen

from harness2_core.sweep.read import Reading, Row
from harness2_core.sweep.run import Paid

from .demo_scores import Scored, scored


@frozen
class ModeFacts:
    token: str
    name: str
    learns: bool
    """Controls do not."""


@frozen
class Shown:
    """The harness of one mode that is shown: what a task gained, and the changes to base behind it."""

    scored: Scored
    diff: str


@frozen
class Told:
    """One lesson, and the later tasks of the domain that had it before them."""

    task: str
    mode: str
    cue: str
    lesson: str
    later: tuple[str, ...]


@frozen
class Unfit:
    """A mode that came to nothing on a task."""

    task: str
    mode: str
    why: str


@frozen
class DemoResult:
    config: Path
    namespace: str
    k: int
    modes: tuple[ModeFacts, ...]
    tasks: tuple[str, ...]
    scores: tuple[Scored, ...]
    ungraded: tuple[str, ...]
    """`<task> <mode> <label>` of what has no grade."""
    unfit: tuple[Unfit, ...]
    shown: Shown | None
    told: Told | None
    swept: Paid
    judged: Paid

    def of_mode(self, token: str) -> tuple[Scored, ...]:
        return tuple(item for item in self.scores if item.mode == token)

    @property
    def failed(self) -> bool:
        """Whether a mode that learns came to nothing somewhere. What a control fails at is its result."""
        learning = {mode.token for mode in self.modes if mode.learns}
        return any(unfit.mode in learning for unfit in self.unfit)


def demo_result(
    config: Path, reading: Reading, modes: Sequence[str], rows: Sequence[Row], swept: Paid, judged: Paid
) -> DemoResult:
    """`modes` are names or tokens, in the order in which they are shown."""
    known = [ModeFacts(token, part.name, part.plan.learns) for token, part in reading.study.modes.items()]
    facts = tuple(mode for asked in modes for mode in known if asked in (mode.name, mode.token))
    items = scored(rows)
    return DemoResult(
        config=config,
        namespace=reading.namespace,
        k=reading.study.home.k,
        modes=facts,
        tasks=reading.tasks,
        scores=items,
        ungraded=tuple(f"{row.task} {row.mode or 'base'} {row.label}" for row in rows if row.score is None),
        unfit=tuple(_unfit(reading)),
        shown=_shown(reading, [item for mode in facts if mode.learns for item in items if item.mode == mode.token]),
        told=next((told for mode in facts if mode.learns for told in _lessons(reading, mode.token)), None),
        swept=swept,
        judged=judged,
    )


def _unfit(reading: Reading) -> Iterator[Unfit]:
    for summary in reading.summaries():
        for token, record in summary.modes.items():
            if not record.ok:
                yield Unfit(summary.task, token, record.error or "nothing was delivered")


def _shown(reading: Reading, items: Sequence[Scored]) -> Shown | None:
    """Of the greatest gains, the one with the shortest diff."""
    found = [
        Shown(item, reading.changes(reading.roll(reading.summary(item.task), item.mode, item.label).tree, item.label))
        for item in items
        if item.gain is not None and item.gain > 0
    ]
    return min(found, key=lambda shown: (-(shown.scored.gain or Decimal(0)), len(shown.diff)), default=None)


def _lessons(reading: Reading, mode: str) -> Iterator[Told]:
    for domain in reading.study.chosen:
        for adoption in reading.adoptions(mode, domain):
            if adoption.lesson is not None:
                later = [
                    summary.task
                    for summary in reading.summaries()
                    if mode in summary.modes and adoption.task in summary.modes[mode].seen
                ]
                yield Told(adoption.task, mode, adoption.lesson.cue, adoption.lesson.lesson, tuple(later))
