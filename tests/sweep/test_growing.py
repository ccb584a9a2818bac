"""An experiment goes on, grows at its ends, or is declined by the name of what has changed."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest
from harness2_stores.filesystem import FilesystemStore

from harness2_core.api import ConfigError
from harness2_core.sweep import binding, experiment, setup
from harness2_core.work import attempts

CHANGES = {
    "engine_name was pocket, is now threads": {"run.engine": "threads"},
    "network was model, is now none": {"run.network": "none"},
    "memory_mb was 0, is now 512": {"run.memory_mb": "512"},
}


def test_new_tasks_go_to_the_end_of_their_domain_and_nothing_finished_is_opened(bench: Any) -> None:
    bench.run()
    bench.task("sums/early", "2\n# x\n", "2")  # sorts before the first
    bench.task("more/one")

    grown = bench.run()

    assert grown.exit_code == 0
    assert grown.skipped == ("sums/first",)
    assert bench.reading().study.stream["sums"] == ("sums/first", "sums/early")
    assert bench.mode("sums/early").seen == ("sums/first",)
    assert (grown.paid.rollouts, grown.paid.sessions) == (8, 8)


def test_from_reading_an_experiment_to_writing_it_nobody_else_does(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or of two processes that bring other tasks at once, one would be forgotten."""
    alone = []

    def watched(name: str) -> None:
        before = getattr(experiment, name)

        def watching(*arguments: object) -> object:
            with FilesystemStore(bench.runs / "store").claim("config small-po-agg1") as free:
                alone.append((name, not free))
            return before(*arguments)

        monkeypatch.setattr(experiment, name, watching)

    watched("read_experiment")
    watched("write_whole")
    bench.run()
    bench.task("sums/second")
    bench.run()
    assert alone == [("read_experiment", True), ("write_whole", True)] * 2


def test_a_mode_may_join_and_its_bases_are_those_that_are_there(bench: Any) -> None:
    bench.run(modes="parallel")

    joined = bench.run(modes="parallel,sequential")

    assert joined.exit_code == 0
    assert (joined.paid.rollouts, joined.paid.sessions) == (3, 4)  # three stages and a lesson; no base
    assert set(bench.summary().modes) == {"agg", "seq"}


def test_another_mode_alone_joins_the_same_experiment(bench: Any) -> None:
    bench.run(modes="parallel")

    joined = bench.run(modes="sequential", strict="true")

    assert joined.exit_code == 0
    assert set(bench.summary(modes="sequential").modes) == {"agg", "seq"}


def test_a_vanished_task_is_declined_by_name(bench: Any) -> None:
    bench.task("sums/second")
    bench.run()
    shutil.rmtree(bench.folder / "sums" / "first")

    assert "the task 'sums/first' has vanished" in _declined(bench)


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("channels", {"roles.executor.limit_seconds": "60"}),
        ("reflector", {"run.reflector": "none"}),
        ("selector", {"run.selector": "pairwise"}),
    ],
)
def test_what_belongs_to_the_experiment_is_declined_naming_the_field_and_offering_a_tag(
    bench: Any, field: str, options: dict[str, str]
) -> None:
    bench.run()

    error = _declined(bench, **options)

    assert re.search(rf"{field}\S* was", error)
    assert "--new-tag second" in error
    assert bench.run(tag="second", **options).exit_code == 0  # the way out that was offered


@pytest.mark.parametrize(("tag", "offered"), [("", "second"), ("old", "old-2"), ("t" * 64, "t" * 59 + "-2")])
def test_the_tag_that_is_offered_is_one_that_no_experiment_has(bench: Any, tag: str, offered: str) -> None:
    changed = {"roles.improver.effort": "high"}
    bench.run(tag=tag)

    assert _declined(bench, tag=tag, **changed).endswith(f"--new-tag {offered}")
    assert bench.run(tag=offered, **changed).exit_code == 0
    assert not _declined(bench, tag=tag, **changed).endswith(f"--new-tag {offered}")


def test_a_changed_base_harness_is_declined_by_name(bench: Any) -> None:
    bench.run()
    program = bench.folder / "base" / "scripts" / "solve.py"
    program.write_text(program.read_text() + "# changed\n")

    assert "base_tree was" in _declined(bench)


def test_changed_mission_texts_are_declined_by_name(bench: Any) -> None:
    own = bench.root / "texts"
    own.mkdir()
    bench.run(templates=own)
    (own / "inv.md.jinja").write_text("Mend the procedure.\n")

    assert "templates:" in _declined(bench, templates=own)


def test_a_changed_version_warns_and_is_refused_only_when_strict(bench: Any) -> None:
    bench.run()
    config = bench.runs / "adapt" / "small-po-agg1" / "config.json"
    config.write_text(config.read_text().replace('"core":"', '"core":"0.0.1.'))

    error = _declined(bench, strict="true")
    bench.run()

    assert "--strict" in error
    assert "core was 0.0.1." in error
    assert any("core was 0.0.1." in note for note in bench.notices)


@pytest.mark.parametrize(
    "change",
    [
        "engine_name was pocket, is now threads",
        "sandbox_name was bubblewrap, is now none",
        f"host was {attempts.host()}, is now here",
        "network was model, is now none",
        "memory_mb was 0, is now 512",
    ],
    ids=["engine", "sandbox", "host", "network", "memory"],
)
def test_what_is_only_recorded_is_told_and_refused_only_when_strict(
    bench: Any, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    bench.run()
    options = CHANGES.get(change, {})
    if change.startswith("sandbox"):
        config = bench.runs / "adapt" / "small-po-agg1" / "config.json"
        config.write_text(config.read_text().replace('"sandbox_name":"none"', '"sandbox_name":"bubblewrap"'))
    monkeypatch.setattr(binding, "host", lambda: "here" if change.startswith("host") else attempts.host())

    error = _declined(bench, strict="true", **options)
    result = bench.run(**options)

    assert (change in error, "--strict" in error) == (True, True)
    assert any(change in note for note in bench.notices)
    assert result.paid.nothing
    assert bench.run(strict="true", **options).exit_code == 0  # what was gone on with is what is recorded now


def test_another_version_of_the_agent_is_told_and_refused_when_strict(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "_version_of", lambda _: {"agent": "1.0.0"})
    bench.run()
    monkeypatch.setattr(setup, "_version_of", lambda _: {"agent": "2.0.0"})

    error = _declined(bench, strict="true")
    bench.run()

    assert "agent was 1.0.0, is now 2.0.0" in error
    assert any("agent was 1.0.0, is now 2.0.0" in note for note in bench.notices)


def test_the_version_is_the_one_that_the_substrate_tells() -> None:
    class Agent:
        def version(self) -> str:
            return "toy 3"

    assert setup._version_of(Agent()) == {"agent": "toy 3"}
    assert setup._version_of(object()) == {}


def _declined(bench: Any, **options: Any) -> str:
    with pytest.raises(ConfigError) as raised:
        bench.run(**options)
    return str(raised.value)
