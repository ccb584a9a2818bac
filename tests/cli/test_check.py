"""`check`: all that is wrong at once, and what is in force."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.testing.model_server import ModelServer

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
    said = typed("check", "-o", "run.access=plain", "-o", "roles.improver.options.key_variable=SOME_KEY")
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


SPEAKER = """
    from harness2_core.api import Allowed, Surface

    class Made:
        surface = Surface("speaker", always_on=(), cap_chars=0, allowed=(Allowed("script", "scripts/<script>.py"),))
        protocol = "{protocol}"

        def install(self, tree, prompt, channel, place, endpoint): ...
        def parse(self, stdout, stderr, exit): ...
"""
NAMED = ("-o", "run.substrate=speaker", "--model-executor", "some-model")


@pytest.fixture
def speaker(bench: Any) -> Any:
    """A bench whose agent says which protocol it speaks."""
    bench.plugin("substrate", "speaker", SPEAKER.format(protocol="chat"), token="spk")
    return bench


def to(url: str) -> tuple[str, ...]:
    return (*NAMED, "-o", f"roles.executor.options.url={url}")


def test_a_model_is_asked_for_one_token_before_anything_else(speaker: Any, typed: Callable[..., Any]) -> None:
    with ModelServer() as server:
        said = typed("check", *to(f"{server.url}/v1"))

        assert (said.code, server.probed) == (0, 1), said.out
    assert "model some-model" in said.out
    assert "answers" in said.out


def test_a_run_asks_too_and_starts_nothing_when_the_model_is_not_reached(
    speaker: Any, typed: Callable[..., Any]
) -> None:
    said = typed("run", *to("http://127.0.0.1:9/v1"))

    assert said.code == 1
    assert "is not reached" in said.err
    assert not (speaker.runs / "adapt").exists()


def test_offline_asks_nothing(speaker: Any, typed: Callable[..., Any]) -> None:
    said = typed("check", "--offline", *to("http://127.0.0.1:9/v1"))

    assert said.code == 0
    assert "not asked" in said.out


def test_no_model_is_asked_while_something_else_is_wrong(speaker: Any, typed: Callable[..., Any]) -> None:
    with ModelServer() as server:
        said = typed("check", "--selector", "blnd", *to(f"{server.url}/v1"))

        assert (said.code, server.probed) == (1, 0)
    assert "not asked" in said.out


def test_a_model_without_an_address_is_a_problem(speaker: Any, typed: Callable[..., Any]) -> None:
    said = typed("check", *NAMED)

    assert said.code == 1
    assert "set `url` under [roles.executor.options]" in said.out


CAGE = """
    class Made:
        def works(self):
            return ""

        def wrap(self, argv, policy, place):
            return argv
"""


def test_an_access_that_does_not_lead_out_of_the_sandbox_is_a_problem(speaker: Any, typed: Callable[..., Any]) -> None:
    speaker.plugin("sandbox", "cage", CAGE)
    caged = ("--sandbox", "cage", "--offline", *to("http://127.0.0.1:9/v1"))

    said = typed("check", "-o", "run.access=plain", *caged)
    assert said.code == 1
    assert 'set access = "relay"' in said.out
    assert 'network = "open"' in said.out


BROKEN_ACCESS = """
    class Made:
        def open(self, channel, key, role):
            raise KeyError("no lock")

        def channel_problems(self, channel, role):
            {problems}

        def usage(self, key): ...
"""


@pytest.mark.parametrize(
    ("problems", "said_of"), [("return ()", "its `open` raised"), ("1 / 0", "its `channel_problems` raised")]
)
def test_an_access_that_raises_is_blamed_and_the_rest_is_told_too(
    speaker: Any, typed: Callable[..., Any], problems: str, said_of: str
) -> None:
    speaker.plugin("access", "jammed", BROKEN_ACCESS.format(problems=problems))

    said = typed("check", "-o", "run.access=jammed", "--selector", "blnd", *to("http://127.0.0.1:9/v1"))

    assert said.code == 1
    assert "jammed-access-made 1.0" in said.out
    assert said_of in said.out
    assert "did you mean 'blind'?" in said.out


def test_a_network_without_the_model_is_a_problem_for_who_asks_one(speaker: Any, typed: Callable[..., Any]) -> None:
    speaker.plugin("sandbox", "cage", CAGE)

    said = typed("check", "--sandbox", "cage", "-o", "run.network=none", "--offline", *to("http://127.0.0.1:9/v1"))

    assert said.code == 1
    assert 'network = "none" under [run]' in said.out


def test_a_disk_without_room_is_a_problem(bench: Any, typed: Callable[..., Any]) -> None:
    said = typed("check", "-o", f"run.min_free_mb={1 << 50}")

    assert said.code == 1
    assert "min_free_mb" in said.out


def test_the_network_is_told_with_what_decided_it(bench: Any, typed: Callable[..., Any]) -> None:
    facts = typed("check", "--json", "-o", "run.network=open").json["facts"]

    assert facts["network"] == "none (the tasks promise none, [run] allows open: the stricter counts)"
