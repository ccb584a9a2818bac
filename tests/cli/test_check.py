"""`check`: all that is wrong at once, and what is in force."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

UNWELL = """
    class Made:
        def preflight(self):
            return {answer}

        def items(self, task, grader):
            return ()

        def grade(self, work, items, ctx):
            yield from ()
"""


def test_what_is_ready_is_said_to_be_with_what_is_in_force(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("check", "--json")
    assert (said.code, said.json["ready"], said.json["problems"]) == (0, True, [])
    facts = said.json["facts"]
    assert facts["substrate pocket"] == "pocket-made 1.0"
    assert facts["sandbox"] == "none: agents run with your own rights (the configuration asks for none)"
    assert "held by" in facts["limits"]
    assert facts["store"] == f"filesystem, writable, for {bench.runs}"
    assert (facts["experiment"], facts["tasks"]) == ("small-po-agg1", "1")


def test_all_problems_are_told_at_once(bench: Any, typed: Callable[..., Any]) -> None:
    bench.plugin("judge", "unwell", UNWELL.format(answer='["it has a cold; give it tea"]'))
    said = typed(
        *("check", "--modes", "paralel,sequental", "--selector", "blnd", "-o", "run.judge=unwell"),
        *("-o", "proposers.scripted.playbooks.sums=nowhere.toml", "-o", "roles.improver.options.key_variable=NO_KEY"),
    )
    assert said.code == 1
    for told in (
        "judge unwell: it has a cold; give it tea",
        "no mode is named 'paralel'; did you mean 'parallel'?",
        "no mode is named 'sequental'; did you mean 'sequential'?",
        "no selector is named 'blnd'; did you mean 'blind'?",
        "nowhere.toml",
        "takes its key from NO_KEY, which is not set",
        "not ready: 6 problems",
    ):
        assert told in said.out, told


def test_a_key_variable_that_is_set_is_no_problem(
    bench: Any, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "canary")
    said = typed("check", "-o", "roles.improver.options.key_variable=SOME_KEY")
    assert said.code == 0
    assert "canary" not in said.out + said.err


def test_a_preflight_that_raises_is_blamed_on_its_plugin(bench: Any, typed: Callable[..., Any]) -> None:
    bench.plugin("judge", "unwell", UNWELL.format(answer="1 / 0"))
    said = typed("check", "-o", "run.judge=unwell")
    assert said.code == 1
    assert "unwell-judge-made 1.0" in said.out
    assert "ZeroDivisionError" in said.out


def test_a_run_checks_first_and_starts_nothing_when_it_is_not_ready(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("run", "-o", "run.judge=checkz", "--selector", "blnd")
    assert said.code == 1
    assert "checkz" in said.err
    assert "blnd" in said.err
    assert not (bench.runs / "adapt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_a_runs_directory_that_cannot_be_written_is_a_problem(bench: Any, typed: Callable[..., Any]) -> None:
    Path("afile").write_text("")
    said = typed("check", "--runs", "afile")
    assert said.code == 1
    assert "afile" in said.out


def test_check_writes_nothing_of_the_experiment_down(bench: Any, typed: Callable[..., Any]) -> None:
    typed("check")
    assert not (bench.runs / "adapt").exists()


def test_a_task_that_has_changed_since_the_run_is_found(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    bench.write("sums/first/instruction.md", "Something else.\n")
    said = typed("check")
    assert said.code == 1
    assert "'sums/first' has changed" in said.out


PICKY = """
    from harness2_core.api import ConfigError

    class Made:
        def works(self):
            return ""

        def wrap(self, argv, policy, place):
            if policy.network not in ("none", "open"):
                raise ConfigError(f"no network {policy.network!r} here", "allow all of it or none")
            return argv
"""


def test_a_network_that_the_sandbox_cannot_give_is_told_before_the_first_rollout(
    bench: Any, typed: Callable[..., Any]
) -> None:
    bench.plugin("sandbox", "picky", PICKY)
    assert typed("check", "--sandbox", "picky").code == 0
    said = typed("check", "--sandbox", "picky", "--model-executor", "some-model")
    assert said.code == 1
    assert "executors under picky: no network 'model' here; allow all of it or none" in said.out
