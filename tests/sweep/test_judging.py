"""Grades come after the method, from stored work: missing is missing, nothing delivered is zero, base stands beside."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness2_core.sweep.run import Again, judge_sweep, reselect_sweep

JUDGE = """
    from harness2_core.api import Item, Verdict

    asked = []
    prose = set()

    class Made:
        def items(self, task, grader):
            return (Item("sum", "3"), Item("form", "1"))

        def grade(self, work, items, ctx):
            for item in items:
                asked.append((work.task, item.name))
                if (work.task, item.name) in prose:
                    yield Verdict(item.name, "it looks rather good to me")
                    continue
                found = (work.deliverables / "sum.txt").read_text().strip()
                yield Verdict(item.name, item.name == "form" or found == "1007", "looked")
"""


@pytest.fixture
def judged(bench: Any) -> Any:
    bench.plugin("judge", "made", JUDGE)
    bench.set(judge="made")
    bench.task("sums/second")
    bench.run()
    return bench


def grade(bench: Any, which: str = "finals", **options: object) -> Any:
    return judge_sweep(bench.config(**options), which)


def judge_module() -> Any:
    return sys.modules["made_judge_made"]


def test_base_is_graded_beside_what_was_adopted(judged: Any) -> None:
    rows = {(row.task, row.label): row.score for row in grade(judged, "bases").rows}
    assert rows == {
        ("sums/first", "base1"): "0.25",
        ("sums/first", "agg1"): "1",
        ("sums/second", "base1"): "0.25",
        ("sums/second", "agg1"): "1",
    }


def test_grading_again_pays_nothing(judged: Any) -> None:
    first, second = grade(judged, "all"), grade(judged, "all")
    assert (first.paid.gradings, second.paid.nothing) == (8, True)
    assert second.rows == first.rows


def test_an_unreadable_verdict_leaves_its_row_ungraded_and_only_it_is_asked_again(judged: Any) -> None:
    grade(judged)
    module = judge_module()
    judged.task("sums/third")
    judged.run()
    module.prose.add(("sums/third", "form"))
    module.asked.clear()
    missing = grade(judged)
    assert [row.task for row in missing.ungraded] == ["sums/third"]
    assert next(iter(missing.ungraded)).grade.error == "1 of 2 items have no verdict"
    module.prose.clear()
    module.asked.clear()
    assert grade(judged).ungraded == ()
    assert module.asked == [("sums/third", "form")]


def test_a_judge_in_prose_is_shown_as_ungraded_and_ends_with_exit_code_2(
    judged: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged.command("judge") == 0
    judged.task("sums/third")
    judged.run()
    judge_module().prose.add(("sums/third", "sum"))
    capsys.readouterr()
    assert judged.command("judge") == 2
    assert "ungraded" in capsys.readouterr().out


def test_a_mode_that_delivered_nothing_is_graded_zero_and_not_left_out(bench: Any) -> None:
    bench.plugin("judge", "made", JUDGE)
    bench.set(judge="made")
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('error: nothing done')\n")
    bench.run()
    assert [(row.label, row.score) for row in grade(bench).rows] == [("agg1", "0")]


def test_the_judge_and_its_channel_are_part_of_a_grade(judged: Any) -> None:
    grade(judged)
    other = grade(judged, **{"roles.judge.model": "another"})
    models = {r["channel"].get("model", "") for r in judged.requests() if r["kind_of_request"] == "grade"}
    assert other.paid.gradings == 2
    assert models == {"", "another"}


def test_another_selector_votes_again_and_adopts_nothing(judged: Any) -> None:
    before = judged.summary()
    voted = reselect_sweep(judged.config(), "first")
    assert judged.summary() == before
    assert voted.paid.rollouts == 0


def test_a_grade_survives_that_its_task_is_opened_again(judged: Any) -> None:
    grade(judged)
    judged.run(again=Again(retry=("sums/first",)))
    assert all(row.score == "1" for row in grade(judged).rows)


def test_words_of_the_graders_files_in_a_harness_are_flagged_and_change_no_score(
    bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    leak = "the sum is right when every line is read and notes are left out and blanks do not matter at all"
    program = (bench.folder / "base/scripts/solve.py").read_text(encoding="utf-8")
    bench.plugin("judge", "made", JUDGE)
    bench.set(judge="made")
    bench.write("sums/first/checks/notes.md", leak)
    bench.write("base/scripts/solve.py", f"# {leak}\n{program}")
    bench.run()
    (row,) = grade(bench).rows
    assert row.grade.flags[0].startswith("the harness's scripts/solve.py holds words of the grader's files: 'the sum")
    assert row.score == "1"
    assert not any(leak in reply.text for reply in bench.replies())
    for command, whose in (("judge", "agg agg1"), ("report", "parallel agg1")):
        assert bench.command(command) == 0
        assert f"audit: sums/first ({whose}): the harness's scripts/solve.py holds" in capsys.readouterr().out
