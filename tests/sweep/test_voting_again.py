"""`reselect`: another selector votes on stored finals; nothing is adopted, reopened or paid twice."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from harness2_core.sweep.report import report_of
from harness2_core.sweep.run import Again, Reselected, judge_sweep, reselect_sweep
from harness2_core.sweep.votes import keep_vote, tries

UNLIKE = """
    class Made(Scripted):
        def run(self, request, workspace, ctx):
            said = super().run(request, workspace, ctx)
            program = workspace / "context/harness/scripts/solve.py"
            if request.kind in ("agg", "compose"):
                label = request.draw.rpartition("/")[2].partition(".")[0]
                more = f'(output / "{label}.txt").write_text("mine")'
                program.write_text(program.read_text().replace('say("summed")', more))
            return said
"""
"""Compositions deliver different files."""

LAST = """
    from harness2_core.api import Choice

    broken = False
    seeds = []

    class Made:
        def select(self, ballot):
            seeds.append(ballot.seed)
            if broken:
                raise RuntimeError("out of order")
            return Choice(ballot.ids[-1], "the last of the ballot")
            yield ()
"""


@pytest.fixture
def finals(bench: Any) -> Any:
    """A finished task with two finals that are not alike, on which `first` has voted."""
    bench.improver("unlike", UNLIKE)
    bench.plugin("selector", "last", LAST)
    bench.set(k=2, selector="first")
    bench.run()
    assert set(bench.mode().selection.ids) == {"A", "B"}
    return bench


def module() -> Any:
    return sys.modules["last_selector_made"]


def vote(bench: Any, selector: str = "last") -> Reselected:
    return reselect_sweep(bench.config(), selector)


def test_a_second_vote_adopts_nothing_and_leaves_every_record_as_it_was(finals: Any) -> None:
    adopted = finals.reading().adoptions("agg", "sums")
    before = finals.summary()
    (row,) = vote(finals).rows
    assert row.second is not None
    assert (row.second.chosen_id, row.second.why) == ("B", "the last of the ballot")
    assert finals.summary() == before
    assert finals.reading().adoptions("agg", "sums") == adopted
    assert finals.run().paid.nothing


def test_who_has_voted_is_not_asked_again(finals: Any) -> None:
    first = vote(finals)
    asked = len(module().seeds)
    assert vote(finals).rows == first.rows
    assert len(module().seeds) == asked


def test_a_vote_that_two_processes_come_to_is_one_try(finals: Any) -> None:
    (row,) = vote(finals).rows
    assert row.second is not None
    archive, home = finals.reading().study.archive, finals.reading().study.home
    keep_vote(archive, home, "sums/first", "last", 1, row.second)
    assert tries(archive, home, "sums/first", "last") == (row.second,)


def test_a_second_vote_by_sessions_pays_them_once(finals: Any) -> None:
    first, second = vote(finals, "pairwise"), vote(finals, "pairwise")
    assert (first.paid.sessions, second.paid.nothing) == (2, True)
    assert second.rows == first.rows
    assert "Position bias: the one named first won" in first.rows[0].second.why  # type: ignore[union-attr]


def test_a_second_vote_has_a_shuffle_of_its_own(finals: Any) -> None:
    for task in range(4):
        finals.task(f"sums/t{task}")
    finals.run()
    rows = vote(finals).rows
    assert {dict(row.first.ids) == dict(row.second.ids) for row in rows if row.second is not None} == {True, False}


def test_a_selector_that_failed_is_asked_again_under_another_draw(finals: Any) -> None:
    finals.plugin("selector", "moody", LAST.replace("broken = False", "broken = True"))
    failed = vote(finals, "moody")
    assert (len(failed.left), failed.rows[0].second.fallback) == (1, True)  # type: ignore[union-attr]
    moody: Any = sys.modules["moody_selector_made"]
    moody.broken = False
    mended = vote(finals, "moody")
    assert (mended.left, mended.rows[0].second.fallback) == ((), False)  # type: ignore[union-attr]
    assert len(set(moody.seeds)) == 2
    vote(finals, "moody")
    assert len(moody.seeds) == 2


def test_a_task_that_was_opened_again_is_voted_on_again(finals: Any) -> None:
    vote(finals)
    finals.run(again=Again(retry=("sums/first",)))
    asked = len(module().seeds)
    (row,) = vote(finals).rows
    assert row.second is not None
    assert len(module().seeds) == asked + 1


def test_a_report_compares_votes_on_the_finals_that_there_are(finals: Any) -> None:
    vote(finals)
    (told,) = report(finals).votes
    assert (told.selector, told.mode, told.tasks, told.failed) == ("last", "agg", 1, 0)
    assert told.same == (finals.mode().selection.chosen == vote(finals).rows[0].second.chosen)  # type: ignore[union-attr]
    finals.run(again=Again(retry=("sums/first",)))
    assert report(finals).votes == ()


def test_a_vote_that_failed_is_counted_and_not_compared(finals: Any) -> None:
    finals.plugin("selector", "moody", LAST.replace("broken = False", "broken = True"))
    vote(finals, "moody")
    (told,) = report(finals).votes
    assert (told.tasks, told.failed, told.same, told.n) == (0, 1, 0, 0)


def test_finals_of_which_none_delivered_are_no_failure_of_the_selector(bench: Any) -> None:
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('error: nothing done')\n")
    bench.run()
    voted = vote(bench, "first")
    assert voted.left == ()
    assert voted.rows[0].second.error == "none of the finals delivered anything to choose from"  # type: ignore[union-attr]


def test_a_second_pick_is_graded_and_compared(finals: Any) -> None:
    for task in range(3):
        finals.task(f"sums/t{task}")
    finals.run()
    rows = vote(finals, "last").rows
    judge_sweep(finals.config(), "finals")
    (told,) = report(finals).votes
    assert (told.tasks, told.n) == (4, 4)
    assert told.same == sum(row.second is not None and row.first.chosen == row.second.chosen for row in rows)
    assert (told.first, told.second, told.difference) == ("1", "1", "0")


def test_sessions_of_a_second_vote_are_told_apart(finals: Any) -> None:
    vote(finals, "pairwise")
    assert [(item.mode, item.requests) for item in report(finals).spending if item.role == "vote"] == [("agg", 2)]


def test_a_budget_holds_a_vote_back_and_says_so(finals: Any) -> None:
    held = reselect_sweep(finals.config(max_sessions=1), "pairwise")
    assert (held.exit_code, held.paid.sessions, len(held.left)) == (3, 0, 1)
    assert set(held.held.values()) == {"--max-sessions 1 is used up"}
    assert vote(finals, "pairwise").exit_code == 0


def report(bench: Any) -> Any:
    return report_of(bench.reading())
