"""Which experiment a command is about: `--ns`, the configured one, the newest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def two(bench: Any, typed: Callable[..., Any]) -> None:
    """Experiments `first` and `second`, the second one newer."""
    for age, tag in ((60, "first"), (10, "second")):
        typed("run", "--tag", tag)
        for path in (bench.runs / "adapt" / f"small-po-agg1-{tag}").iterdir():
            if path.is_file():
                os.utime(path, (path.stat().st_atime - age, path.stat().st_mtime - age))


def _configure(bench: Any, **run: str) -> None:
    with Path("harness2.toml").open("a", encoding="utf-8") as file:
        file.writelines(f"run.{key} = {value}\n" for key, value in run.items())


def test_the_newest_is_meant_when_nothing_is_said_and_that_is_said_aloud(two: None, typed: Callable[..., Any]) -> None:
    said = typed("show")
    assert said.out.startswith("experiment small-po-agg1-second\n")
    assert "small-po-agg1-second, the newest in" in said.err
    assert "--ns" in said.err


def test_ns_names_another_one(two: None, typed: Callable[..., Any]) -> None:
    said = typed("show", "--ns", "small-po-agg1-first")
    assert said.out.startswith("experiment small-po-agg1-first\n")


def test_the_namespace_of_a_mode_means_its_experiment(two: None, typed: Callable[..., Any]) -> None:
    assert typed("show", "--ns", "small-po-seq1-first").out.startswith("experiment small-po-agg1-first\n")


def test_the_configured_one_is_meant_though_another_is_newer(bench: Any, two: None, typed: Callable[..., Any]) -> None:
    _configure(bench, tag='"first"')
    said = typed("show")
    assert said.out.startswith("experiment small-po-agg1-first\n")
    assert "small-po-agg1-second is newer" in said.err


def test_an_option_is_never_answered_with_another_experiment(two: None, typed: Callable[..., Any]) -> None:
    said = typed("show", "--k", "2")
    assert said.out.startswith("experiment small-po-agg2\n")
    assert "not run" in said.out


def test_an_unknown_namespace_names_the_nearest(two: None, typed: Callable[..., Any]) -> None:
    said = typed("show", "--ns", "small-po-agg1-frist")
    assert said.code == 1
    assert "did you mean 'small-po-agg1-first'" in said.err


@pytest.mark.parametrize("ns", ["nonsense", "small-po"])
def test_what_is_no_namespace_is_told_how_one_reads(two: None, typed: Callable[..., Any], ns: str) -> None:
    said = typed("show", "--ns", ns)
    assert said.code == 1
    assert "<bench>-<substrate>-<mode><k>" in said.err


def test_ns_and_an_option_that_says_otherwise_are_refused(two: None, typed: Callable[..., Any]) -> None:
    said = typed("show", "--ns", "small-po-agg1-first", "--tag", "second")
    assert said.code == 1
    assert "'tag' both say which experiment" in said.err


def test_the_experiment_of_another_benchmark_is_refused(bench: Any, two: None, typed: Callable[..., Any]) -> None:
    _configure(bench)
    said = typed("show", "--ns", "small-po-agg1-first", "-o", "adapters.tasks.name=other")
    assert said.code == 1
    assert "of the benchmark 'small', and the configuration brings 'other'" in said.err


def test_what_has_changed_since_is_said_and_the_records_are_shown(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run", "--model", "one")
    said = typed("show")
    assert said.code == 0
    assert "channels.executor.model was one, is now not set" in said.err
    assert "agg: agg1" in said.out


def test_a_run_that_would_be_another_experiment_is_still_declined(typed: Callable[..., Any]) -> None:
    typed("run", "--model", "one")
    assert "belongs to another experiment" in typed("run").err
