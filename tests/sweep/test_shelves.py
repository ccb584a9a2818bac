"""`harness2 library`: entries are listed, shown, taken out and forgotten by their task's name, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness2_core.api import ConfigError, StoreError
from harness2_core.cli.main import run
from harness2_core.model.records import Opening
from harness2_core.sweep import pruning, shelves
from harness2_core.sweep.modes import mode_meant

ODD = "sums/../é 300" + "t" * 300
NAMED = """
    from attrs import evolve
    from harness2_local.tasks import TaskFolders

    class Made(TaskFolders):
        def tasks(self, split):
            return (NAME,)

        def task(self, id):
            return evolve(super().task("sums/first"), id=id)

        def grader_side(self, id):
            return super().grader_side("sums/first")
"""


@pytest.fixture
def library(bench: Any, capsys: pytest.CaptureFixture[str]) -> Any:
    """`harness2 library <arguments>` -> exit code, output, errors."""

    config = str(bench.write("harness2.toml", ""))

    def typed(command: str, *arguments: str) -> tuple[int, str, str]:
        options = [part for key, value in bench.options.items() for part in ("-o", f"{key}={value}")]
        capsys.readouterr()
        code = run(["--config", config, "library", *command.split(), *options, "--", *arguments])
        return code, *capsys.readouterr()

    return typed


def test_an_entry_of_any_name_is_listed_shown_taken_out_and_forgotten(bench: Any, library: Any) -> None:
    bench.plugin("adapter", "named", NAMED.replace("NAME", repr(ODD)), settings="harness2_local.settings:TasksSettings")
    bench.set(bench="named", **{"adapters.named.path": bench.folder, "adapters.named.name": "small"})
    assert bench.run().exit_code == 0
    around = set(bench.root.iterdir())

    assert ODD in library("list")[1]
    assert "+++ agg1/scripts/solve.py" in library("show", ODD)[1]
    assert library("forget", ODD)[:2] == (0, f"forgotten: agg {ODD}\n")
    assert library("list")[1] == "the libraries are empty\n"
    assert set(bench.root.iterdir()) == around


@pytest.mark.parametrize("name", ["../..", "", "x" * 300, "sums/frist", "\x1b[31mred"])
@pytest.mark.parametrize("command", ["show", "forget"])
def test_a_name_that_no_entry_bears_is_told_and_does_nothing(bench: Any, library: Any, command: str, name: str) -> None:
    bench.run()

    code, out, errors = library(command, name)

    assert (code, out) == (1, "")
    assert "no library holds an entry of" in errors
    assert "\x1b" not in errors
    assert "sums/first" in library("list")[1]


def test_an_entry_that_another_mode_has_is_no_suggestion_of_itself(bench: Any, library: Any) -> None:
    bench.run()

    code, _, errors = library("show", "sums/first", "--mode", "seq")

    assert code == 1
    assert "did you mean" not in errors


def test_what_a_model_wrote_acts_on_no_terminal(bench: Any, library: Any) -> None:
    bench.write(
        "playbook.toml", (bench.folder / "playbook.toml").read_text().replace("notes between", "\\u001b[2Jnotes")
    )
    bench.run()

    for out in (library("list")[1], library("list --json")[1], library("show", "sums/first")[1]):
        assert "notes" in out
        assert "\x1b" not in out


def test_a_harness_is_taken_out_whole_into_a_new_or_an_empty_directory_only(bench: Any) -> None:
    bench.run()
    study = bench.reading().study
    entry = shelves.entry_of(study, "sums/first", "")
    (bench.root / "empty").mkdir()

    for name in ("new", "deep/er", "empty"):
        shelves.export(study, entry, bench.root / name)
        files = {str(file.relative_to(bench.root / name)) for file in (bench.root / name).rglob("*") if file.is_file()}
        assert files == {"EXPERIENCE.md", "harness/scripts/solve.py"}


@pytest.mark.parametrize("target", ["bench", "bench/playbook.toml", "bench/playbook.toml/below", "nowhere"])
def test_nothing_is_written_over_or_through_what_is_there(bench: Any, target: str) -> None:
    bench.run()
    (bench.root / "nowhere").symlink_to(bench.root / "lost")
    before = contents(bench.root)
    study = bench.reading().study

    with pytest.raises((ConfigError, StoreError), match=Path(target).name):
        shelves.export(study, shelves.entry_of(study, "sums/first", ""), bench.root / target)

    assert contents(bench.root) == before


def test_a_mode_is_meant_by_its_name_or_its_token_in_any_case(bench: Any) -> None:
    bench.run(modes="parallel,sequential")
    study = bench.reading(modes="parallel,sequential").study

    assert [mode_meant(study, given) for given in ("agg", "AGG", "parallel", "Sequential", "seq", "")] == [
        *("agg", "agg", "agg", "seq", "seq", "")
    ]
    with pytest.raises(ConfigError, match=r"no mode 'parralel'[\s\S]*did you mean 'parallel'"):
        mode_meant(study, "parralel")
    with pytest.raises(ConfigError, match="say which, with --mode"):
        shelves.entry_of(study, "sums/first", "")


def test_what_was_forgotten_stays_forgotten_through_runs_and_its_harness_stays_in_the_store(bench: Any) -> None:
    bench.run()
    study = bench.reading().study
    shelves.forget(study, shelves.entry_of(study, "sums/first", ""))
    bench.task("sums/second")

    for _ in range(2):
        assert bench.run().exit_code == 0
    pruning.prune(study.store, bench.runs)

    assert [entry.adoption.task for entry in shelves.entries(bench.reading().study)] == ["sums/second"]
    assert bench.mode("sums/second").seen == ()
    assert bench.reading().tree(bench.mode("sums/first").adopted).files
    assert "sums/first" not in next(bench.runs.rglob("INDEX.md")).read_text()


def test_an_entry_that_a_retry_brings_is_not_hidden_by_having_forgotten_the_one_before(bench: Any) -> None:
    bench.run()
    study = bench.reading().study
    study.archive.keep(study.home, "sums/first", Opening(("agg",)), 2)  # a retry that was stopped
    shelves.forget(study, shelves.entry_of(study, "sums/first", ""))
    assert shelves.entries(study) == ()

    bench.run()

    assert [entry.adoption.task for entry in shelves.entries(bench.reading().study)] == ["sums/first"]


def contents(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file() and "runs" not in path.parts}
