from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import InvalidValue
from harness2_core.model.plan import Plan, Roll, Stage, Step, needs


def two_candidates(k: int) -> Plan:
    """A plan as a mode makes it: one edit and one composition for each base."""
    steps: list[Step] = []
    for index in range(1, k + 1):
        steps += [
            Stage(f"inv{index}", "inv", "base", (f"base{index}",), index=index, of=k),
            Roll(f"inv{index}", f"inv{index}"),
        ]
    pool = tuple(f"inv{index}" for index in range(1, k + 1))
    for index in range(1, k + 1):
        steps += [Stage(f"agg{index}", "agg", "base", ("base1",), pool, pool), Roll(f"agg{index}", f"agg{index}")]
    finals = tuple(f"agg{index}" for index in range(1, k + 1))
    return Plan(tuple(steps), finals, rollouts=3 * k, sessions=2 * k)


@given(st.integers(1, 8))
def test_a_consistent_plan_counts_its_bases_rolls_and_stages(k: int) -> None:
    plan = two_candidates(k)
    assert len(plan.bases) == k
    assert len(plan.rolls) + len(plan.bases) == plan.rollouts
    assert len(plan.stages) == plan.sessions
    assert plan.bases == tuple(f"base{index}" for index in range(1, k + 1))


def test_a_step_needs_what_it_starts_from_sees_and_pools() -> None:
    stage = Stage("agg1", "agg", "inv1", ("base1", "inv1"), pool=("inv1", "dom1"), decisions=("inv1", "dom2"))
    assert needs(stage) == (
        ("stage", "inv1"),
        ("roll", "base1"),
        ("roll", "inv1"),
        ("stage", "dom1"),
        ("roll", "dom1"),
        ("stage", "dom2"),
    )


def test_a_roll_needs_its_tree_and_the_base_tree_is_given() -> None:
    assert needs(Roll("inv1", "inv1")) == (("stage", "inv1"),)
    assert needs(Roll("again", "base")) == ()


def test_a_plan_without_stages_may_choose_among_bases() -> None:
    plan = Plan((), ("base1", "base2"), rollouts=2, sessions=0, learns=False)
    assert plan.bases == ("base1", "base2")


def test_one_tree_may_be_rolled_again_under_another_label() -> None:
    plan = Plan((STAGE, ROLL, Roll("second", "inv1")), ("inv1", "second"), rollouts=3, sessions=1)
    assert plan.roll("second").tree == plan.stage("inv1").label


STAGE = Stage("inv1", "inv", "base", ("base1",))
ROLL = Roll("inv1", "inv1")


@pytest.mark.parametrize(
    ("steps", "finals", "rollouts", "sessions", "why"),
    [
        ((STAGE, STAGE, ROLL), ("inv1",), 2, 2, "two stages are labelled 'inv1'"),
        ((STAGE, ROLL, ROLL), ("inv1",), 3, 1, "two rolls are labelled 'inv1'"),
        ((STAGE, ROLL), ("inv1",), 1, 1, "at least one base must remain"),
        ((STAGE, ROLL), ("inv1",), 2, 2, "declares 2 sessions but has 1 stages"),
        ((STAGE, ROLL, Roll("base1", "base")), ("inv1",), 3, 1, "'base1' is named as a base is"),
        ((STAGE, ROLL, Roll("base9", "base")), ("inv1",), 3, 1, "'base9' is named as a base is"),
        ((Stage("base", "inv", "base", ()),), ("base1",), 1, 1, "stage 'base' is named as a base is"),
        ((Roll("x", "inv9"),), ("x",), 2, 0, "'x' needs the stage 'inv9'"),
        ((Stage("inv1", "inv", "dom1", ()), ROLL), ("inv1",), 2, 1, "needs the stage 'dom1'"),
        ((Stage("inv1", "inv", "base", ("base2",)), ROLL), ("inv1",), 2, 1, "needs the roll 'base2'"),
        ((Stage("inv1", "inv", "base", (), ("base1",)), ROLL), ("inv1",), 2, 1, "needs the stage 'base1'"),
        ((Stage("inv1", "inv", "base", (), (), ("x",)), ROLL), ("inv1",), 2, 1, "needs the stage 'x'"),
        ((STAGE, Stage("dom1", "dom", "base", (), ("inv1",))), ("base1",), 1, 2, "needs the roll 'inv1'"),
        ((STAGE, Roll("inv1", "base")), ("inv1",), 2, 1, "must run the tree of the stage 'inv1'"),
        ((Stage("inv1", "inv", "inv1", ()), ROLL), ("inv1",), 2, 1, "wait for each other"),
        ((Stage("inv1", "inv", "base", ("inv1",)), ROLL), ("inv1",), 2, 1, "wait for each other"),
        (
            (Stage("a", "inv", "b", ()), Stage("b", "inv", "a", ())),
            ("base1",),
            1,
            2,
            "wait for each other: stage",
        ),
        ((Stage("inv1", "inv", "base", (), index=2, of=1), ROLL), ("inv1",), 2, 1, "number 2 of 1"),
        ((Stage("inv1", "inv", "base", (), round=3, rounds=2), ROLL), ("inv1",), 2, 1, "round 3 of 2"),
        ((STAGE, ROLL), (), 2, 1, "no finals"),
        ((STAGE, ROLL), ("dom1",), 2, 1, "final 'dom1' is no roll and no base"),
        ((STAGE,), ("inv1",), 1, 1, "final 'inv1' is no roll and no base"),
        ((STAGE, ROLL), ("inv1", "inv1"), 2, 1, "listed twice"),
    ],
)
def test_an_inconsistent_plan_is_refused_with_the_reason(
    steps: tuple[Step, ...], finals: tuple[str, ...], rollouts: int, sessions: int, why: str
) -> None:
    with pytest.raises(InvalidValue, match=why):
        Plan(steps, finals, rollouts, sessions)


NAMES = ("inv1", "dom1", "c1", "base1", "base2")
SOME = st.lists(st.sampled_from(NAMES), unique=True, max_size=2).map(tuple)
TREES = st.sampled_from(("base", "inv1", "dom1", "c1"))
STEPS = st.builds(Roll, st.sampled_from(NAMES[:4]), TREES) | st.builds(
    Stage, st.sampled_from(NAMES[:4]), st.just("inv"), TREES, SOME, SOME, SOME
)
FINALS = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)
ANY = st.tuples(st.lists(STEPS, max_size=4), FINALS, st.sampled_from((1, 1, 2, 0)), st.sampled_from((0, 0, 0, 1)))


def chain(starts: list[str]) -> list[Step]:
    """Stages with their rolls, of which only what they start from can be wrong: unknown, or in a circle."""
    stages = [Stage(label, "inv", start, ("base1",)) for label, start in zip(NAMES, starts, strict=False)]
    return [step for stage in stages for step in (stage, Roll(stage.label, stage.label))]


CHAINS = st.tuples(st.lists(TREES, min_size=1, max_size=3).map(chain), st.just(["base1"]), st.just(1), st.just(0))


@given(ANY | CHAINS)
def test_a_plan_is_taken_exactly_when_it_can_be_gone_through_and_counts_are_what_it_declares(
    drawn: tuple[list[Step], list[str], int, int],
) -> None:
    steps, finals, bases, more = drawn
    rolls = [step.label for step in steps if isinstance(step, Roll)]
    stages = [step.label for step in steps if isinstance(step, Stage)]
    done = {("roll", f"base{index}") for index in range(1, bases + 1)}
    for _ in steps:  # whatever their order: as many turns as there are steps are enough
        done |= {("roll" if isinstance(s, Roll) else "stage", s.label) for s in steps if done.issuperset(needs(s))}
    sound = (
        len(set(rolls)) == len(rolls)
        and len(set(stages)) == len(stages)
        and "base1" not in (*rolls, *stages)
        and all(step.tree == step.label for step in steps if isinstance(step, Roll) and step.label in stages)
        and len(done) == bases + len(steps)
        and bool(finals)
        and all(("roll", label) in done for label in finals)
        and bases >= 1
        and not more
    )
    try:
        plan = Plan(tuple(steps), tuple(finals), bases + len(rolls), len(stages) + more)
    except InvalidValue:
        assert not sound
        return
    assert sound
    assert (len(plan.bases), len(plan.rolls), len(plan.stages)) == (bases, len(rolls), len(stages))


def test_all_problems_of_a_plan_are_told_at_once() -> None:
    with pytest.raises(InvalidValue) as caught:
        Plan((STAGE, STAGE, Roll("inv1", "base"), Roll("y", "z")), ("nowhere",), 2, 7)
    said = str(caught.value)
    reasons = ("two stages", "at least one base", "7 sessions", "must run the tree", "stage 'z'", "'nowhere'")
    assert [reason for reason in reasons if reason not in said] == []
    assert caught.value.remedy == "mend the mode that returned it"


@pytest.mark.parametrize("label", ["", "Inv1", "1inv", "inv-1", "a/b", "inv1.fix", "..", "inv 1"])
def test_a_label_is_a_lower_case_word(label: str) -> None:
    with pytest.raises(InvalidValue, match="label"):
        Roll(label, "base")
    with pytest.raises(InvalidValue, match="label"):
        Stage(label, "inv", "base", ())


def test_a_template_that_could_not_name_a_session_is_refused_before_anything_is_paid() -> None:
    with pytest.raises(InvalidValue, match=r"Stage\.template"):
        Stage("inv1", "My Template", "base", ())


def test_plans_that_do_alike_have_one_digest_and_others_another() -> None:
    assert two_candidates(2).digest == two_candidates(2).digest
    assert two_candidates(2).digest != two_candidates(3).digest


def test_a_large_plan_is_checked() -> None:
    plan = two_candidates(150)
    assert len(plan.steps) == 600
    assert len(needs(plan.steps[-2])) == 1 + 2 * 150
