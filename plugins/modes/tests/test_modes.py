from __future__ import annotations

import pytest
from attrs import evolve
from harness2_modes.null import Null
from harness2_modes.parallel import Parallel
from harness2_modes.sampling import Sampling
from harness2_modes.sequential import Sequential

from harness2_core.api import Mode, Roll, Stage
from harness2_core.testing.mode_contract import ModeContract

KS = range(1, 5)


class TestParallel(ModeContract):
    factory = "harness2_modes.parallel:Parallel"


class TestSequential(ModeContract):
    factory = "harness2_modes.sequential:Sequential"


class TestSampling(ModeContract):
    factory = "harness2_modes.sampling:Sampling"


class TestNull(ModeContract):
    factory = "harness2_modes.null:Null"


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("mode", [Parallel(), Sequential()])
def test_the_improving_modes_take_4k_rollouts_and_3k_stages(mode: Parallel | Sequential, k: int) -> None:
    plan = mode.plan(k)
    assert (plan.rollouts, plan.sessions, len(plan.finals)) == (4 * k, 3 * k, k)
    assert plan.learns


@pytest.mark.parametrize("k", KS)
def test_parallel_editors_see_only_the_bases(k: int) -> None:
    editors = [stage for stage in Parallel().plan(k).stages if stage.template != "agg"]
    assert len(editors) == 2 * k
    assert {(s.start, s.pool, s.decisions, s.rollouts) for s in editors} == {("base", (), (), Parallel().plan(k).bases)}


def test_parallel_compositions_are_independent_and_see_every_editor() -> None:
    plan = Parallel().plan(2)
    first, second = (plan.stage(label) for label in plan.finals)
    assert first.pool == first.decisions == ("inv1", "dom1", "inv2", "dom2")
    assert evolve(first, label=second.label, index=2) == second


def test_sequential_rounds_edit_the_checkpoint_before_them_and_see_all_history() -> None:
    plan = Sequential().plan(3)
    assert [plan.stage(label).start for label in ("inv1", "dom2", "inv3", "c3")] == ["base", "c1", "c2", "c2"]
    assert plan.stage("inv2").pool == ("inv1", "dom1", "c1")
    assert plan.stage("c2").pool == ("inv1", "dom1", "c1", "inv2", "dom2") == plan.stage("c2").decisions
    assert all(stage.rollouts == ("base1", "base2", "base3") for stage in plan.stages)


def test_at_k_1_sequential_is_parallel_under_another_label() -> None:
    renamed = [evolve(stage, label="agg1") if stage.label == "c1" else stage for stage in Sequential().plan(1).stages]
    assert tuple(renamed) == Parallel().plan(1).stages


@pytest.mark.parametrize("k", KS)
def test_sampling_rolls_the_unmodified_harness_only_and_may_deliver_any(k: int) -> None:
    plan = Sampling().plan(k)
    assert all(isinstance(step, Roll) and step.tree == "base" for step in plan.steps)
    assert len(plan.finals) == plan.rollouts == 4 * k
    assert not plan.stages
    assert not plan.learns


@pytest.mark.parametrize("k", KS)
def test_null_is_parallel_with_editors_that_keep(k: int) -> None:
    null, parallel = Null().plan(k), Parallel().plan(k)
    assert not null.learns
    assert {stage.template for stage in null.stages} == {"keep"}
    unlike = [
        (one, other)
        for one, other in zip(null.steps, parallel.steps, strict=True)
        if one != (evolve(other, template="keep") if isinstance(other, Stage) else other)
    ]
    assert unlike == []


@pytest.mark.parametrize(
    ("mode", "one", "two"),
    [
        (Parallel(), "55192ac8987146ae", "81ea9207a8224564"),
        (Sequential(), "b7ba950741bb274a", "c1de707614f5c1a2"),
        (Sampling(), "5d7f2c1c0300fe9d", "88dbb21dd5aac11a"),
        (Null(), "cc9786592f97fbb0", "37b35effb619ee90"),
    ],
)
def test_an_update_of_this_plugin_does_not_end_experiments_that_have_begun(mode: Mode, one: str, two: str) -> None:
    """Plans are part of an experiment's identity: a changed one declines its resume."""
    assert (mode.plan(1).digest[:16], mode.plan(2).digest[:16]) == (one, two)
