"""Plans: what a mode is going to do, as data, checked before a cent is spent.

A plan holds the rolls and stages after the bases `base1..basek`, which are given. The roll of a stage's tree bears
the stage's label. Building an inconsistent plan raises one error with all problems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Final, TypeAlias

from attrs import field, frozen

from .canonical import Digest, canonical, digest_bytes
from .check import at_least, matches
from .errors import InvalidValue
from .frozen import strings
from .namespace import LABEL

BASE: Final = "base"
_BASE_LIKE: Final = re.compile(rf"{BASE}[0-9]*")
_label = matches(LABEL, "a label like 'inv1': a lower-case letter, then letters, digits and '_'")


@frozen
class Roll:
    """One rollout: `tree` is `base` or the label of the stage whose tree it runs."""

    label: str = field(validator=_label)
    tree: str


@frozen
class Stage:
    """One improvement step.

    `template` names its mission text and is the session's kind; `start` is `base` or the stage whose tree it edits and
    falls back to; it sees the transcripts of `rollouts`, the harness and rollout of every stage in `pool`, and the
    notes of `decisions`. `index` of `of` counts equal stages for the mission's wording; `round` of `rounds` likewise.
    """

    label: str = field(validator=_label)
    template: str = field(validator=matches(LABEL, "a lower-case word"))
    start: str
    rollouts: tuple[str, ...] = field(converter=strings)
    pool: tuple[str, ...] = field(converter=strings, default=())
    decisions: tuple[str, ...] = field(converter=strings, default=())
    index: int = field(default=1, validator=at_least(1))
    of: int = field(default=1, validator=at_least(1))
    round: int = field(default=1, validator=at_least(1))
    rounds: int = field(default=1, validator=at_least(1))


Step: TypeAlias = Roll | Stage


@frozen
class Plan:
    """`rollouts` counts the k bases and the rolls, `sessions` the stages; both are declared and must be so."""

    steps: tuple[Step, ...]
    finals: tuple[str, ...] = field(converter=strings)
    rollouts: int = field(validator=at_least(1))
    sessions: int = field(validator=at_least(0))
    learns: bool = True

    def __attrs_post_init__(self) -> None:
        found = tuple(_problems(self))
        if found:
            raise InvalidValue("not a plan: " + "; ".join(found), "mend the mode that returned it")

    @cached_property
    def rolls(self) -> tuple[Roll, ...]:
        return tuple(step for step in self.steps if isinstance(step, Roll))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(step for step in self.steps if isinstance(step, Stage))

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """`base1..basek`."""
        return tuple(f"{BASE}{index}" for index in range(1, self.rollouts - len(self.rolls) + 1))

    def roll(self, label: str) -> Roll:
        """The roll of this label; `StopIteration` when the plan has none."""
        return next(roll for roll in self.rolls if roll.label == label)

    def stage(self, label: str) -> Stage:
        """The stage of this label; `StopIteration` when the plan has none."""
        return next(stage for stage in self.stages if stage.label == label)

    @cached_property
    def digest(self) -> Digest:
        """Part of the experiment's identity."""
        from .serial import plain  # serial needs every value type, this one too

        return digest_bytes(canonical(plain(self)))


def needs(step: Step) -> tuple[tuple[str, str], ...]:
    """What must exist before `step` starts: ('roll', label) and ('stage', label) pairs."""
    if isinstance(step, Roll):
        return () if step.tree == BASE else (("stage", step.tree),)
    starts = () if step.start == BASE else (("stage", step.start),)
    pool = tuple(item for label in step.pool for item in (("stage", label), ("roll", label)))
    rolls = tuple(("roll", label) for label in step.rollouts)
    return tuple(dict.fromkeys((*starts, *rolls, *pool, *(("stage", label) for label in step.decisions))))


def _problems(plan: Plan) -> Iterator[str]:
    stages = [stage.label for stage in plan.stages]
    rolls = [roll.label for roll in plan.rolls]
    for kind, labels in (("stage", stages), ("roll", rolls)):
        for label in sorted(label for label, count in Counter(labels).items() if count > 1):
            yield f"two {kind}s are labelled {label!r}"
        for label in sorted(set(labels)):
            if _BASE_LIKE.fullmatch(label):
                yield f"the {kind} {label!r} is named as a base is; bases are given"
    bases = plan.rollouts - len(rolls)
    if bases < 1:
        yield f"declares {plan.rollouts} rollouts but has {len(rolls)} rolls: at least one base must remain"
    if plan.sessions != len(stages):
        yield f"declares {plan.sessions} sessions but has {len(stages)} stages"
    known = {("stage", label) for label in stages} | {("roll", label) for label in (*rolls, *plan.bases)}
    graph: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for step in plan.steps:
        graph["roll" if isinstance(step, Roll) else "stage", step.label] = needs(step)
        for kind, label in needs(step):
            if (kind, label) not in known:
                yield f"{step.label!r} needs the {kind} {label!r}, which the plan does not have"
        if isinstance(step, Roll) and step.tree != step.label and ("stage", step.label) in known:
            yield f"the roll {step.label!r} must run the tree of the stage {step.label!r}"
        if isinstance(step, Stage) and (step.index > step.of or step.round > step.rounds):
            yield f"the stage {step.label!r} is number {step.index} of {step.of}, round {step.round} of {step.rounds}"
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        yield "steps wait for each other: " + " -> ".join(f"{kind} {label}" for kind, label in error.args[1])
    if not plan.finals:
        yield "it has no finals"
    for label in plan.finals:
        if ("roll", label) not in known:
            yield f"the final {label!r} is no roll and no base"
    if len(set(plan.finals)) != len(plan.finals):
        yield "a final is listed twice"
