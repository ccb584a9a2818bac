"""`harness2 plan --mermaid`: the modes' plans as one flowchart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness2_core.cli.main import run
from harness2_core.cli.plan_graph import PICK, arrows, boxes, mermaid
from harness2_core.model.plan import Plan, Roll, Stage

EXAMPLE = Path(__file__).parents[2] / "examples" / "own-tasks.toml"


def stage(label: str, start: str, *pool: str) -> tuple[Stage, Roll]:
    return Stage(label, "inv", start, ("base1",), pool), Roll(label, label)


@pytest.fixture
def plan() -> Plan:
    """Two edits one after the other, and a third that sees both; the last two may be delivered."""
    steps = (*stage("one", "base"), *stage("two", "one", "one"), *stage("three", "base", "one", "two"))
    return Plan(steps, ("two", "three"), rollouts=4, sessions=3)


def test_a_stage_and_its_roll_are_one_box(plan: Plan) -> None:
    assert [(box.label, box.look) for box in boxes(plan)] == [
        ("base1", "run"),
        ("one", "edit"),
        ("two", "edit"),
        ("three", "edit"),
        (PICK, "pick"),
    ]


def test_an_arrow_says_what_it_means_and_none_says_what_a_way_says(plan: Plan) -> None:
    assert list(arrows(boxes(plan))) == [
        ("base1", "one", "given"),
        ("one", "two", "start"),
        ("two", "three", "given"),
        ("two", PICK, "may be picked"),
        ("three", PICK, "may be picked"),
    ]


def test_rolls_of_the_base_may_be_picked() -> None:
    plan = Plan((Roll("more", "base"),), ("base1", "more"), rollouts=2, sessions=0)
    assert list(arrows(boxes(plan))) == [("base1", PICK, "may be picked"), ("more", PICK, "may be picked")]


def test_two_modes_stand_side_by_side_and_share_no_node(plan: Plan) -> None:
    text = mermaid({"one": ("first", plan), "end": ("second", plan)})
    assert text.count("  subgraph ") == text.count("\n  end") == 2
    nodes = re.findall(r"^    (\w+)[\[({]", text, re.MULTILINE)
    assert len(nodes) == len(set(nodes)) == 10
    assert set(re.findall(r"\w+", " ".join(re.findall(r"^    (\w+) \S+ (\w+)$", text, re.MULTILINE)[0]))) <= set(nodes)


@pytest.mark.together
def test_the_command_prints_the_flowchart_and_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = ["--config", str(EXAMPLE), "plan", "--runs", str(tmp_path / "runs"), "--modes", "parallel"]
    assert run([*common, "--mermaid"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith('flowchart LR\n  subgraph mode_agg["parallel (agg): 4 rollouts, 3 sessions"]\n')
    assert "    agg_inv1 -.-> agg_agg1\n" in printed
    assert run([*common, "--mermaid", "--json"]) == 1
