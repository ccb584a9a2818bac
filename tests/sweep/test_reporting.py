"""Rows of a report, from records made by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.channel import Outcome
from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.model.records import (
    Grade,
    ModeRecord,
    ReflectionRecord,
    RollRecord,
    SelectionRecord,
    StageRecord,
    Summary,
)
from harness2_core.sweep.judging import Row
from harness2_core.sweep.procedures import alike
from harness2_core.sweep.reporting import TaskRow, mode_rows, rounded, task_rows
from harness2_core.sweep.voting import vote_rows

D = "0" * 64


def _roll(label: str) -> RollRecord:
    return RollRecord(label, D, D, Outcome.FINISHED, delivered=True)


def _record(**changes: Any) -> ModeRecord:
    selection = SelectionRecord("blind", ok=True, chosen="agg1")
    record = ModeRecord("agg", 1, D, D, rolls=(_roll("inv1"), _roll("agg1")), selection=selection, ok=True)
    return evolve(record, **changes)


def _summary(task: str = "d/a", *, record: ModeRecord | None = None, bases: int = 2, status: str = "ok") -> Summary:
    labels = [f"base{number}" for number in range(1, bases + 1)]
    modes = {} if record is None else {"agg": record}
    return Summary(task, "d", 1, None, status, tuple(map(_roll, labels)), modes)


def _graded(label: str, score: str | None, *, task: str = "d/a", mode: str = "", picked: bool = False) -> Row:
    grade = Grade(D, Outcome.FINISHED, score=score)
    return Row(task, "d", mode, label, D, picked, True, grade)


def _row(summary: Summary, *rows: Row, entries: frozenset[str] = frozenset()) -> TaskRow:
    stream = ("d/early", "d/soon", summary.task, "d/after")
    (found,) = task_rows({"d": stream}, {summary.task: summary}, ["agg"], rows, {"agg": entries})
    return found


def test_a_task_s_difference_is_what_was_delivered_minus_the_mean_of_its_bases() -> None:
    found = _row(
        _summary(record=_record()),
        _graded("base1", "0.2"),
        _graded("base2", "0.4"),
        _graded("agg1", "0.9", mode="agg", picked=True),
        _graded("inv1", "0", mode="agg"),
    )
    assert (found.base, found.adopted, found.difference) == ("0.3", "0.9", "0.6")


def test_what_is_ungraded_is_in_no_mean_and_is_counted_apart() -> None:
    one = _row(_summary(record=_record()), _graded("base1", "0.5"), _graded("agg1", "1", mode="agg", picked=True))
    other = _row(
        _summary("d/b", record=_record()),
        _graded("base1", None, task="d/b"),
        _graded("agg1", None, task="d/b", mode="agg", picked=True),
    )
    assert (one.bases_graded, one.bases_ungraded, one.base) == (1, 1, "0.5")
    (row,) = mode_rows([one, other])
    assert (row.base, row.adopted, row.difference) == ("0.5", "1", "0.5")
    assert (row.done, row.n, row.ungraded) == (2, 1, 1)


def test_a_score_of_zero_is_a_score() -> None:
    found = _row(_summary(record=_record()), _graded("base1", "0"), _graded("agg1", "0", mode="agg", picked=True))
    assert (found.base, found.adopted, found.difference, found.ungraded) == ("0", "0", "0", False)


def test_every_task_has_a_row_whatever_became_of_it() -> None:
    summaries = {
        "d/a": _summary("d/a", record=_record()),
        "d/b": _summary("d/b", status="partial"),
        "d/c": _summary("d/c", status="base-failed"),
        "d/d": _summary("d/d", bases=0, status="partial"),
    }
    rows = task_rows({"d": tuple(summaries)}, summaries, ["agg"], (), {})
    assert [row.state for row in rows] == ["done", "not finished", "base-failed", "not run"]
    assert (mode_rows(rows)[0].tasks, mode_rows(rows)[0].done) == (4, 1)


def test_picks_are_told_by_kind() -> None:
    def pick(**changes: Any) -> str:
        selection = evolve(SelectionRecord("blind", ok=True, chosen="agg1"), **changes)
        return _row(_summary(record=_record(selection=selection))).pick

    assert pick() == "final"
    assert pick(chosen="base1", base_pick=True) == "base"
    assert pick(fallback=True) == "fallback"
    assert pick(chosen="", ok=False) == "nothing"


def test_steps_are_counted() -> None:
    stages = (
        StageRecord("inv1", "inv", D, (D,), kept=True),
        StageRecord("dom1", "dom", D, (D, D), fell_back=True),
        StageRecord("agg1", "agg", D, (D, D)),
    )
    selection = SelectionRecord("blind", ok=True, chosen="agg1", same={"agg2": "agg1"}, sessions=(D,))
    record = _record(stages=stages, selection=selection, reflection=ReflectionRecord("lesson", sessions=(D, D)))
    found = _row(_summary(record=record))
    assert (found.kept, found.fell_back, found.corrections, found.identical) == (1, 1, 2, 1)
    assert (found.rollouts, found.sessions) == (4, 8)


def test_an_earlier_entry_that_a_task_ran_without_came_late() -> None:
    found = _row(
        _summary(record=_record(seen=("d/early",))), entries=frozenset({"d/early", "d/soon", "d/after", "d/a"})
    )
    assert found.late == ("d/soon",)


def test_several_domains_are_followed_by_all_of_them() -> None:
    row = _row(_summary(record=_record()))
    rows = mode_rows([row, evolve(row, task="e/a", domain="e"), evolve(row, mode="seq")])
    assert [(row.mode, row.domain, row.tasks) for row in rows] == [
        ("agg", "d", 1),
        ("agg", "e", 1),
        ("agg", "", 2),
        ("seq", "d", 1),
    ]


@given(st.lists(st.tuples(st.none() | st.integers(0, 1000), st.none() | st.integers(0, 1000)), min_size=1))
def test_a_mean_difference_is_that_of_the_pairs_alone(scores: list[tuple[int | None, int | None]]) -> None:
    def text(score: int | None) -> str | None:
        return None if score is None else rounded(Decimal(score) / 1000)

    rows = []
    for number, (base, adopted) in enumerate(scores):
        task = f"d/{number}"
        grades = [
            _graded("base1", text(base), task=task),
            _graded("agg1", text(adopted), task=task, mode="agg", picked=True),
        ]
        rows.append(_row(_summary(task, record=_record(), bases=1), *grades))
    (row,) = mode_rows(rows)
    pairs = [adopted - base for base, adopted in scores if base is not None and adopted is not None]
    assert row.n == len(pairs)
    if pairs:
        assert row.difference is not None
        assert abs(Decimal(row.difference) - Decimal(sum(pairs)) / len(pairs) / 1000) <= Decimal("0.000001")
    else:
        assert row.difference is None


def test_votes_are_compared_where_both_picks_are_graded() -> None:
    def second(chosen: str) -> SelectionRecord:
        return SelectionRecord("first", ok=True, chosen=chosen)

    summaries = {task: _summary(task, record=_record()) for task in ("d/a", "d/b", "d/c")}
    rows = [
        _graded("agg1", "0.5", mode="agg", picked=True),
        _graded("inv1", "0.75", mode="agg"),
        _graded("agg1", "1", task="d/b", mode="agg", picked=True),
    ]
    votes = {
        ("first", "agg", task): second(label) for task, label in (("d/a", "inv1"), ("d/b", "agg1"), ("d/c", "inv1"))
    }
    (vote,) = vote_rows(votes, summaries, rows)
    assert (vote.tasks, vote.same, vote.n) == (3, 1, 2)
    assert (vote.first, vote.second, vote.difference) == ("0.75", "0.875", "0.125")


def _plan(final: str, template: str) -> Plan:
    stages = (Stage("inv1", "inv", "base", ("base1",)), Stage(final, template, "base", ("base1",), ("inv1",)))
    steps = tuple(step for stage in stages for step in (stage, Roll(stage.label, stage.label)))
    return Plan(steps, (final,), rollouts=3, sessions=2)


def test_plans_that_differ_in_labels_only_are_alike() -> None:
    plans = {"one": _plan("agg1", "agg"), "two": _plan("c1", "agg"), "three": _plan("c1", "compose")}
    assert alike(plans) == (("one", "two"),)
