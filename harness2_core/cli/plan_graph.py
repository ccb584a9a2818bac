"""A plan as boxes and arrows, for people: the Mermaid text of `harness2 plan --mermaid`, and drawings of the pages.

A stage and the roll of its tree are one box. What is told by a way over other boxes has no arrow of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from attrs import frozen

from harness2_core.model.plan import BASE, Plan, Roll, Stage

PICK: Final = "Pick"
"""The box that stands for the selection; labels of plans begin with a lower-case letter."""

Look: TypeAlias = Literal["run", "edit", "pick"]
Arrow: TypeAlias = Literal["given", "start", "may be picked"]


@frozen
class Box:
    """One thing that happens: a roll of the base, a stage with its roll, or the pick at the end."""

    label: str
    template: str
    """The stage's mission text; empty for others."""
    look: Look
    after: tuple[str, ...] = ()
    """Boxes whose transcripts, harnesses or notes it is given."""
    start: str = ""
    """The box whose tree it edits, when that is not the base."""
    final: bool = False

    @property
    def waits(self) -> tuple[str, ...]:
        """Everything that it goes on from."""
        return tuple(dict.fromkeys((*self.after, *([self.start] if self.start else []))))


def boxes(plan: Plan) -> tuple[Box, ...]:
    """Every box, in the order of the plan; a box stands after all that it waits for, where the plan's steps do."""
    stages = {stage.label for stage in plan.stages}
    found = [Box(label, "", "run", final=label in plan.finals) for label in plan.bases]
    for step in plan.steps:
        final = step.label in plan.finals
        if isinstance(step, Stage):
            given = tuple(dict.fromkeys((*step.rollouts, *step.pool, *step.decisions)))
            start = "" if step.start == BASE else step.start
            found.append(Box(step.label, step.template, "edit", given, start, final))
        elif isinstance(step, Roll) and step.label not in stages:
            after = () if step.tree == BASE else (step.tree,)
            found.append(Box(step.label, "", "run", after, after[0] if after else "", final))
    return (*found, Box(PICK, "", "pick", plan.finals))


def arrows(found: Sequence[Box]) -> Iterator[tuple[str, str, Arrow]]:
    """(from, to, what it means) of each arrow, in the order of the boxes."""
    waits: Mapping[str, tuple[str, ...]] = {box.label: box.waits for box in found}

    def before(label: str, seen: set[str]) -> set[str]:
        for other in waits[label]:
            if other not in seen:
                seen.add(other)
                before(other, seen)
        return seen

    reached = {label: before(label, set()) for label in waits}
    for box in found:
        for label in box.waits:
            if box.look == "pick":
                yield label, box.label, "may be picked"
            elif label == box.start:
                yield label, box.label, "start"
            elif not any(label in reached[other] for other in box.waits if other != label):
                yield label, box.label, "given"


def mermaid(modes: Mapping[str, tuple[str, Plan]]) -> str:
    """A flowchart of the plans: token -> (name of the mode, plan), side by side."""
    lines = ["flowchart LR"]
    for token, (name, plan) in modes.items():
        found = boxes(plan)
        ids = {box.label: f"{token}_{box.label}" for box in found}
        lines.append(f'  subgraph mode_{token}["{name} ({token}): {plan.rollouts} rollouts, {plan.sessions} sessions"]')
        for box in found:
            said = f"{box.label}<br/>{box.template}, run" if box.template else box.label
            lines.append(f"    {ids[box.label]}{_SHAPES[box.look].format(said)}{':::final' if box.final else ''}")
        lines += [f"    {ids[from_]} {_LINES[meaning]} {ids[to]}" for from_, to, meaning in arrows(found)]
        lines.append("  end")
    return "\n".join([*lines, "  classDef final stroke-width:3px"])


_SHAPES: Final[Mapping[Look, str]] = {"run": '(["{}"])', "edit": '["{}"]', "pick": '{{{{"{}"}}}}'}
_LINES: Final[Mapping[Arrow, str]] = {"given": "-.->", "start": "-->", "may be picked": "==>"}
