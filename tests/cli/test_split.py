"""`split`, and runs over the tasks that a split file names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def four_tasks(bench: Any) -> None:
    for name in ("second", "third", "fourth"):
        bench.task(f"sums/{name}")


def test_a_split_takes_its_share_of_every_domain_and_every_task_once(bench: Any, typed: Callable[..., Any]) -> None:
    bench.task("more/one")
    bench.task("more/two")
    typed("split", "--output", "split.json", "--fraction", "0.5", "--seed", "7")
    made = json.loads(Path("split.json").read_text())
    assert made["benchmark"] == "small"
    assert [sum(id.startswith(domain) for id in made["train"]) for domain in ("more/", "sums/")] == [1, 2]
    assert sorted(made["train"] + made["test"]) == sorted(bench.reading().study.cards)


def test_the_same_seed_draws_the_same_split_and_another_one_another(typed: Callable[..., Any]) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "3")):
        typed("split", "--output", name, "--seed", seed)
    a, b, c = (json.loads(Path(name).read_text())["train"] for name in "abc")
    assert a == b != c


def test_a_split_is_never_overwritten(typed: Callable[..., Any]) -> None:
    Path("split.json").write_text("mine")
    said = typed("split", "--output", "split.json")
    assert said.code == 1
    assert "exists" in said.err
    assert Path("split.json").read_text() == "mine"


def test_a_run_over_a_split_file_is_a_run_over_its_tasks(typed: Callable[..., Any]) -> None:
    split = {"benchmark": "small", "train": ["sums/second"], "test": ["sums/first"]}
    Path("split.json").write_text(json.dumps(split))

    def stream(name: str) -> list[str]:
        said = typed("plan", "--split-file", "split.json", "--split", name, "--json")
        return [step["task"] for step in said.json["stream"]]

    assert stream("train") == ["sums/second"]
    assert stream("test") == ["sums/first"]
    assert stream("all") == ["sums/first", "sums/second"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"benchmark": "other"}, "of the benchmark 'other', not of 'small'"),
        ({"train": ["sums/first", "sums/first"]}, "`train` names 'sums/first' twice"),
        ({"test": ["sums/first"]}, "'sums/first' stands in both train and test"),
        ({"test": ["sums/nine"]}, "the benchmark has no 'sums/nine'"),
        ({"test": "sums/first"}, "`test` is no list of task ids"),
        ({"test": [3]}, "`test` is no list of task ids"),
    ],
)
def test_a_split_file_that_is_not_true_of_the_benchmark_is_refused(
    typed: Callable[..., Any], change: dict[str, object], told: str
) -> None:
    good = {"benchmark": "small", "train": ["sums/first"], "test": ["sums/second"], "of": "mine"}
    Path("good.json").write_text(json.dumps(good))
    Path("bad.json").write_text(json.dumps(good | change))
    assert typed("plan", "--split-file", "good.json").code == 0
    said = typed("plan", "--split-file", "bad.json")
    assert said.code == 1
    assert told in said.err
    assert "bad.json" in said.err


@pytest.mark.parametrize("fraction", ["0", "1", "1.5", "half", "-0.1", "nan"])
def test_a_fraction_is_a_share(typed: Callable[..., Any], fraction: str) -> None:
    said = typed("split", "--output", "split.json", f"--fraction={fraction}")
    assert said.code == 1
    assert "between 0 and 1" in said.err
    assert not Path("split.json").exists()


def test_a_split_file_knows_three_splits(typed: Callable[..., Any]) -> None:
    typed("split", "--output", "split.json")
    said = typed("plan", "--split-file", "split.json", "--split", "dev")
    assert "has no split 'dev'" in said.err
    assert "train, test" in said.err
