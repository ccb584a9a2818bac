"""Scores beside base: what is ungraded stays out of every number, and is never a zero."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

from attrs import evolve
from harness2_local.demo_scores import Paired, mean, paired, scored
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.sweep.read import Row


class Graded:
    """A stand-in for a grade: rows only ask for its score."""

    def __init__(self, score: str | None) -> None:
        self.score = score


def row(task: str, mode: str, label: str, score: str | None, *, picked: bool = False) -> Row:
    made = Row(task, "d", mode, label, "0" * 64, picked, True)
    return evolve(made, grade=cast("Any", Graded(score)))


def test_base_is_the_mean_of_the_graded_bases() -> None:
    rows = [row("t", "", "base1", "0.2"), row("t", "", "base2", "0.6"), row("t", "", "base3", None)]
    (item,) = scored([*rows, row("t", "agg", "agg1", "1", picked=True)])
    assert (item.base, item.adopted, item.gain) == (Decimal("0.4"), Decimal(1), Decimal("0.6"))


def test_what_is_ungraded_has_no_gain_and_is_in_no_pair() -> None:
    rows = [
        row("one", "", "base1", "0.5"),
        row("one", "agg", "agg1", None, picked=True),
        row("two", "", "base1", None),
        row("two", "agg", "agg1", "1", picked=True),
        row("three", "", "base1", "0.5"),
        row("three", "agg", "agg1", "0.25", picked=True),
    ]
    items = scored(rows)
    assert [item.gain for item in items] == [None, None, Decimal("-0.25")]
    assert paired(items) == Paired(1, Decimal("-0.25"), 0, 0, 1)


def test_rolls_that_were_not_picked_are_no_scores() -> None:
    assert scored([row("t", "", "base1", "1"), row("t", "agg", "inv1", "1")]) == ()


def test_a_mean_of_nothing_is_none() -> None:
    assert mean([]) is None
    assert paired([]) == Paired(0, None, 0, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1))
def test_every_pair_is_counted_once(points: list[tuple[int, int]]) -> None:
    rows = []
    for number, (base, adopted) in enumerate(points):
        rows.append(row(f"t{number}", "", "base1", str(Decimal(base) / 100)))
        rows.append(row(f"t{number}", "agg", "agg1", str(Decimal(adopted) / 100), picked=True))
    pair = paired(scored(rows))
    assert pair.n == len(points) == pair.better + pair.same + pair.worse
    assert pair.better == sum(base < adopted for base, adopted in points)
