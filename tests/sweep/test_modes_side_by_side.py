"""Modes run what they declare, beside each other, and a control that changes nothing is no gain."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness2_core.api import HarnessTree


@pytest.mark.parametrize("mode", ["parallel", "sequential", "sampling", "null"])
@pytest.mark.parametrize("k", [1, 2])
def test_what_a_mode_pays_is_what_its_plan_declares(bench: Any, mode: str, k: int) -> None:
    result = bench.run(modes=mode, k=k)
    part = next(iter(bench.reading(modes=mode, k=k).study.modes.values()))
    stages = [r for r in bench.requests(modes=mode, k=k) if r.get("role") == "improver"]
    assert (result.paid.rollouts, len(stages)) == (part.plan.rollouts, part.plan.sessions)
    assert part.plan.rollouts == 4 * k


def test_modes_are_asked_for_by_name_or_token_in_any_case(bench: Any) -> None:
    modes = bench.reading(modes="Parallel,SEQ,sampling,Nul").study.modes
    assert {token: part.name for token, part in modes.items()} == {
        "agg": "parallel",
        "seq": "sequential",
        "bon": "sampling",
        "nul": "null",
    }


def test_every_candidate_of_both_kinds_really_ran_on_its_own_tree(bench: Any) -> None:
    bench.set(k=2)
    bench.run()
    done = bench.mode()
    trees = {stage.label: stage.tree for stage in done.stages}
    assert set(trees) == {"inv1", "dom1", "inv2", "dom2", "agg1", "agg2"}
    assert {roll.label: roll.tree for roll in done.rolls} == trees
    order = [stage.label for stage in bench.reading().study.modes["agg"].plan.stages]
    assert list(trees) == [roll.label for roll in done.rolls] == order  # of the plan, whatever ended first
    assert len({trees["inv1"], trees["dom1"], trees["agg1"], bench.reading().study.base_digest}) == 4


def test_a_mode_s_work_lies_under_its_own_name_and_the_shared_bases_at_home(bench: Any) -> None:
    bench.run(modes="sequential")
    draws = {request["draw"] for request in bench.requests(modes="sequential")}
    assert {draw for draw in draws if draw.startswith("small-po-agg1/")} == {"small-po-agg1/sums/first/base1"}
    assert "small-po-seq1/sums/first/c1" in draws
    assert (bench.runs / "adapt/small-po-seq1/sums%2Ffirst/harnesses/c1/scripts/solve.py").is_file()
    assert set(bench.summary(modes="sequential").modes) == {"seq"}


def test_a_failed_mode_is_told_by_its_own_record(bench: Any) -> None:
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('error: nothing done')\n")
    bench.run(modes="parallel,sequential")
    summary = bench.summary(modes="parallel,sequential")
    assert {mode: record.ok for mode, record in summary.modes.items()} == {"agg": False, "seq": False}
    assert all("nothing" in record.error or "none" in record.error for record in summary.modes.values())


def test_the_null_control_ends_with_the_base_and_learns_nothing(bench: Any) -> None:
    bench.run(modes="null", k=2)
    done = bench.mode(mode="nul", modes="null", k=2)
    base = bench.reading(modes="null", k=2).study.base_digest
    assert {stage.tree for stage in done.stages} == {base}
    assert all(stage.kept and not stage.fell_back for stage in done.stages)
    assert (done.adopted, done.reflection.lesson) == ("", None)


def test_a_byte_identical_copy_of_the_base_is_kept_and_not_refused(bench: Any) -> None:
    bench.improver(
        "copying",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                if request.kind not in ("inv", "dom", "agg"):
                    return super().run(request, workspace, ctx)
                program = workspace / "context/harness/scripts/solve.py"
                program.write_bytes(bytes(program.read_bytes()))
                return Said(Outcome.FINISHED, "<notes>written again as it was</notes>", NO_MODEL)
        """,
    )
    result = bench.run()
    assert result.exit_code == 0
    assert all(stage.kept and not stage.fell_back for stage in bench.mode().stages)


def test_two_experiments_with_one_seed_come_to_the_same_trees(bench: Any) -> None:
    for task in ("sums/second", "sums/third"):
        bench.task(task)
    found = []
    for name in ("one", "other"):
        random.seed(name)
        options = {"k": 2, "seed": 7, "runs": bench.root / name}
        bench.run(**options)
        found.append([bench.mode(task, **options) for task in ("sums/first", "sums/second", "sums/third")])
    assert [mode.stages for mode in found[0]] == [mode.stages for mode in found[1]]
    assert [mode.selection for mode in found[0]] == [mode.selection for mode in found[1]]


def test_a_sweep_leaves_the_global_generator_of_random_numbers_alone(bench: Any) -> None:
    random.seed(11)
    expected = random.Random(11).random()
    bench.run(k=2, seed=3)
    assert random.random() == expected


def test_a_task_in_two_benches_is_two_pieces_of_work(bench: Any) -> None:
    first = bench.run()
    other = bench.run(**{"adapters.tasks.name": "large"})
    assert (first.paid.rollouts, other.paid.rollouts) == (4, 4)


def test_an_adopted_tree_can_be_read_back_whole(bench: Any) -> None:
    bench.run()
    tree = bench.reading().tree(bench.mode().adopted)
    assert isinstance(tree, HarnessTree)
    assert set(tree.files) == {"scripts/solve.py"}
