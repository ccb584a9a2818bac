"""`report` over small experiments that have really run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from harness2_core.cli.report_text import percent, points


@pytest.fixture
def two_tasks(bench: Any) -> None:
    bench.task("sums/second", "1\n2\n", "3")


def test_base_and_adopted_stand_side_by_side(bench: Any, two_tasks: None, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "parallel,sampling")
    typed("judge", "--bases")
    said = typed("report", "--json")
    rows = {(row["mode"], row["domain"]): row for row in said.json["modes"]}
    assert said.code == 0
    assert (rows["agg", "sums"]["base"], rows["agg", "sums"]["adopted"]) == ("0.5", "1")
    assert (rows["agg", "sums"]["difference"], rows["agg", "sums"]["n"]) == ("0.5", 2)
    assert (rows["bon", "sums"]["difference"], rows["bon", "sums"]["control"]) == ("0", True)
    assert rows["agg", "sums"]["rollouts"] == rows["bon", "sums"]["rollouts"] == 8
    assert (rows["agg", "sums"]["sessions"], rows["bon", "sums"]["sessions"]) == (8, 0)


def test_what_is_paid_is_told_by_role(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    spending = {(item["role"], item["mode"]): item["requests"] for item in typed("report", "--json").json["spending"]}
    assert spending == {
        ("executor", ""): 1,
        ("executor", "agg"): 3,
        ("improver", "agg"): 3,
        ("reflector", "agg"): 1,
    }


def test_ungraded_work_is_said_to_be_so_and_is_never_zero(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    said = typed("report")
    (line,) = [line for line in said.out.splitlines() if line.startswith("parallel  sums")]
    assert line.split()[2:] == ["1/1", "-", "-", "-", "0", "1", "4", "4"]
    assert "not graded, and in no mean: sums/first; `harness2 judge` grades" in said.out
    assert "1 bases of 1 tasks are not graded" in said.out


def test_why_a_check_gave_no_verdict_is_said_below_the_grades(bench: Any, typed: Callable[..., Any]) -> None:
    bench.write("sums/first/checks/check_sum.py", "raise SystemExit('no such column')\n")
    typed("run")
    said = typed("judge")
    assert said.code == 2
    (line,) = [line for line in said.out.splitlines() if line.startswith("ungraded: ")]
    assert line.startswith("ungraded: sums/first (agg agg1): check_sum: check_sum.py ended with exit code 1: ")
    assert "no such column" in line


def test_tasks_that_did_not_run_are_named(bench: Any, two_tasks: None, typed: Callable[..., Any]) -> None:
    typed("run", "--max-tasks", "1")
    assert "not run yet: sums/second" in typed("report").out


def test_csv_has_a_line_for_each_task_and_mode(bench: Any, two_tasks: None, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "parallel,sampling", "--max-tasks", "1")
    typed("judge")
    rows = list(csv.DictReader(io.StringIO(typed("report", "--csv").out)))
    assert [(row["task"], row["mode"], row["state"], row["adopted"]) for row in rows] == [
        ("sums/first", "agg", "done", "1"),
        ("sums/second", "agg", "not run", ""),
        ("sums/first", "bon", "done", "0"),
        ("sums/second", "bon", "not run", ""),
    ]


def test_modes_that_are_one_procedure_at_k_1_are_said_to_be(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run", "--modes", "parallel,sequential")
    assert "k = 1: parallel and sequential are the same procedure" in typed("report").out
    typed("run", "--modes", "parallel,sequential", "--k", "2")
    assert "same procedure" not in typed("report", "--k", "2").out


@pytest.mark.parametrize("option", ["--selector", "--by"])
def test_votes_of_another_selector_are_set_beside(bench: Any, typed: Callable[..., Any], option: str) -> None:
    typed("run", "--k", "2")
    assert typed("reselect", option, "first", "--k", "2").code == 0
    (vote,) = typed("report", "--json", "--k", "2").json["votes"]
    assert (vote["selector"], vote["mode"], vote["tasks"]) == ("first", "agg", 1)


def test_an_entry_that_came_late_is_named_with_the_task_that_ran_without_it(
    bench: Any, two_tasks: None, typed: Callable[..., Any]
) -> None:
    typed("run", "--only-tasks", "sums/second")
    typed("run", "--only-tasks", "sums/first")
    assert "sums/second (parallel) ran without entries that came late: sums/first" in typed("report").out


@pytest.mark.process
def test_executions_that_nothing_confined_are_told(bench: Any, typed: Callable[..., Any]) -> None:
    """As the records have it, whatever the configuration says by then."""
    typed("run", "--substrate", "python", "--modes", "null")
    said = typed("report", "--substrate", "python", "--modes", "null", "--sandbox", "auto")
    assert "executions had no sandbox: your own rights and the whole network, though the tasks promise" in said.out


def test_nothing_to_report_is_said_and_is_exit_code_1(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("report")
    assert said.code == 1
    assert "nothing to report: small-po-agg1 has not begun" in said.err


def test_one_form_at_a_time(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("report", "--json", "--csv")
    assert said.code == 1
    assert "give one of them" in said.err


def test_shares_are_shown_as_percentages_and_differences_as_points() -> None:
    assert (percent("0.1234"), percent("0"), percent(None)) == ("12.3 %", "0.0 %", "-")
    assert (points("-0.05"), points("0.051"), points(None)) == ("-5.0", "+5.1", "-")
