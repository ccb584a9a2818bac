"""The contract of a mode. Subclass it as `TestX(ModeContract)` and give `factory`.

class TestParallel(ModeContract):
    factory = "harness2_modes.parallel:Parallel"
"""

from __future__ import annotations

import json
import os
import pkgutil
import random
import subprocess
import sys
from graphlib import TopologicalSorter
from typing import ClassVar

from harness2_core.api import Allowed, BenchWords, Mode, Plan, Roll, Surface, Templates
from harness2_core.api.strategies import ShipsTemplates
from harness2_core.method.missions import core_templates
from harness2_core.method.rehearsal import rehearse
from harness2_core.model.plan import needs

from .purity import reached_for

_PRINT_DIGESTS = """
import json, pkgutil, sys
mode = pkgutil.resolve_name(sys.argv[1])()
print(json.dumps([mode.plan(k).digest for k in map(int, sys.argv[2:])]))
"""


class ModeContract:
    """A mode is pure: its plan follows from k alone, and holds what it declares."""

    factory: ClassVar[str]
    """`package.module:Class`."""
    scales: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    """The k that are tried."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """Texts of core that the mode's own are meant to stand in place of, for this mode."""

    def mode(self) -> Mode:
        made = pkgutil.resolve_name(self.factory)()
        assert isinstance(made, Mode)
        return made

    def plans(self) -> dict[int, Plan]:
        return {k: self.mode().plan(k) for k in self.scales}

    def test_what_is_counted_is_what_is_declared(self) -> None:
        for k, plan in self.plans().items():
            rolls = [step for step in plan.steps if isinstance(step, Roll)]
            assert plan.rollouts == k + len(rolls), (
                f"k = {k}: {plan.rollouts} declared, {k} bases and {len(rolls)} rolls"
            )
            assert plan.sessions == len(plan.steps) - len(rolls), f"k = {k}"

    def test_no_label_stands_for_two_things(self) -> None:
        for k, plan in self.plans().items():
            rolls = [*plan.bases, *(roll.label for roll in plan.rolls)]
            stages = [stage.label for stage in plan.stages]
            assert len(set(rolls)) == len(rolls), f"k = {k}: {rolls}"
            assert len(set(stages)) == len(stages), f"k = {k}: {stages}"

    def test_no_step_waits_for_itself(self) -> None:
        for plan in self.plans().values():
            graph = {("roll" if isinstance(step, Roll) else "stage", step.label): needs(step) for step in plan.steps}
            order = list(TopologicalSorter(graph).static_order())
            known = {*graph, *(("roll", base) for base in plan.bases)}
            assert known.issuperset(order), f"needed and not there: {set(order) - known}"

    def test_steps_stand_after_what_they_need(self) -> None:
        """Records come out in this order, and a reader meets nothing before its cause."""
        for plan in self.plans().values():
            met = {("roll", base) for base in plan.bases}
            for step in plan.steps:
                assert met.issuperset(needs(step)), f"{step.label} comes before {set(needs(step)) - met}"
                met.add(("roll" if isinstance(step, Roll) else "stage", step.label))

    def test_every_final_is_rolled(self) -> None:
        for plan in self.plans().values():
            rolled = {*plan.bases, *(roll.label for roll in plan.rolls)}
            assert plan.finals
            assert rolled.issuperset(plan.finals)

    def test_every_stage_is_rolled_once(self) -> None:
        """An edit whose effect nobody sees is paid for nothing."""
        for plan in self.plans().values():
            trees = [roll.tree for roll in plan.rolls]
            assert [trees.count(stage.label) for stage in plan.stages] == [1] * len(plan.stages)

    def test_every_stage_has_a_mission(self) -> None:
        templates = core_templates().with_texts(self._own().texts)
        surface = Surface("any", ("notes.md",), 1_000, (Allowed("script", "scripts/<script>.py"),))
        for plan in self.plans().values():
            rehearse(plan, BenchWords("Answer letters."), surface, templates)

    def test_templates_of_its_own_hide_none_of_core_unasked(self) -> None:
        hidden = set(self._own().texts).intersection(core_templates().texts)
        assert hidden == self.replaces, "give the mode's templates names of their own, or name them in `replaces`"

    def _own(self) -> Templates:
        mode = self.mode()
        return mode.templates() if isinstance(mode, ShipsTemplates) else Templates({})

    def test_planning_looks_at_nothing_and_changes_nothing(self) -> None:
        """No file, program, network or dice: k is all that a plan follows from."""
        self.plans()  # what is imported on the way is imported now
        random.seed(1)
        once, reached = reached_for(self.plans, self.factory.partition(":")[0])
        random.seed(2)
        assert self.plans() == once
        assert reached == []

    def test_the_plan_is_the_same_in_another_process(self) -> None:
        """Whatever the hash seed: plan digests are part of an experiment's identity."""
        here = [plan.digest for plan in self.plans().values()]
        for seed in ("1", "2"):
            ran = subprocess.run(
                [sys.executable, "-c", _PRINT_DIGESTS, self.factory, *map(str, self.scales)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
            assert json.loads(ran.stdout) == here
