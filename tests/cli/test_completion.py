"""What the shell is given to complete: names from files and metadata, and nothing but names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.cli import main
from harness2_core.plugins.discovery import scan
from harness2_core.plugins.quick_scan import installed_commands

HEAVY = ("attr", "cattrs", "jinja2", "pluggy", "yaml", "rich", "tomlkit")


@pytest.fixture
def completed(
    typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], list[str]]:
    """The names offered for the last word of a line."""

    def complete(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        monkeypatch.setenv("_HARNESS2_COMPLETE", "complete_bash")
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main.run([])
        monkeypatch.delenv("_HARNESS2_COMPLETE")
        return capsys.readouterr().out.split()

    return complete


@pytest.fixture
def ran(bench: Any, typed: Callable[..., Any]) -> None:
    bench.task("sums/second")
    typed("run", "--only-tasks", "sums/first")


def test_names_of_an_experiment_are_offered(ran: None, completed: Callable[[str], list[str]]) -> None:
    assert completed("harness2 show sums/") == ["sums/first", "sums/second"]
    assert completed("harness2 diff sums/f") == ["sums/first"]
    assert sorted(completed("harness2 export su")) == ["sums", "sums/first", "sums/second"]
    assert completed("harness2 report --ns sm") == ["small-po-agg1"]
    assert completed("harness2 show sums/first --mode ") == ["agg"]


def test_labels_of_the_task_before_are_offered(ran: None, completed: Callable[[str], list[str]]) -> None:
    assert completed("harness2 show sums/first --trajectory ") == ["agg1", "base1", "dom1", "inv1"]
    assert completed("harness2 diff sums/first a") == ["adopted", "agg1"]
    assert completed("harness2 diff sums/first inv1..d") == ["inv1..dom1"]
    assert completed("harness2 show sums/second --trajectory ") == []


def test_names_of_plugins_are_offered(bench: Any, completed: Callable[[str], list[str]]) -> None:
    assert completed("harness2 plugins show bl") == ["blind"]
    assert completed("harness2 lint x --substrate po") == ["pocket"]
    assert {"substrate.pocket", "engine.pocket"} <= set(completed("harness2 plugins show "))


def test_items_of_a_comma_list_are_offered(ran: None, completed: Callable[[str], list[str]]) -> None:
    assert completed("harness2 run --modes par") == ["parallel"]
    assert completed("harness2 run --modes parallel,seq") == ["parallel,sequential"]
    assert completed("harness2 run --only-tasks sums/first,sums/s") == ["sums/first,sums/second"]


def test_commands_are_offered_without_importing_one(
    bench: Any, completed: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib, "import_module", lambda name: pytest.fail(f"imported {name}"))
    assert completed("harness2 re") == ["report", "reselect"]
    assert completed("harness2 --de") == ["--debug"]


@pytest.mark.parametrize("text", ["[run\n", "run = 3\n", "run.runs = 3\n"])
def test_a_wrong_configuration_is_no_error_for_the_shell(
    bench: Any, ran: None, completed: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (bench.root / "harness2.toml").write_text(text)
    assert set(completed("harness2 show sums/f")) <= {"sums/first"}
    assert capsys.readouterr().err == ""


def test_a_damaged_record_offers_no_names(
    bench: Any, ran: None, completed: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("{", "[]", '{"tasks": 3}'):
        (bench.runs / "adapt" / "small-po-agg1" / "config.json").write_text(text)
        assert completed("harness2 show ") == []
        assert capsys.readouterr().err == ""


def test_the_runs_directory_is_the_one_that_is_named(
    bench: Any, ran: None, completed: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "harness2.toml").unlink()
    assert completed("harness2 show --runs elsewhere ") == []
    assert completed(f"harness2 show --runs {bench.runs} sums/f") == ["sums/first"]
    monkeypatch.setenv("HARNESS2_RUN__RUNS", str(bench.runs))
    assert completed("harness2 show sums/f") == ["sums/first"]


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    ["run", "plan", "check", "judge", "reselect", "show", "diff", "export", "report", "library", "lint", "plugins"],
)
def test_a_command_with_names_to_complete_imports_nothing_heavy(command: str) -> None:
    code = f"import sys, harness2_core.cli.{command}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_a_script_for_each_shell_is_shown(typed: Callable[..., Any], shell: str) -> None:
    said = typed("completion", "show", shell)
    assert said.code == 0
    assert "_HARNESS2_COMPLETE" in said.out


def test_the_script_is_installed_for_this_user(
    typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    said = typed("completion", "install", "bash")
    assert said.code == 0
    assert str(tmp_path / "home") in said.out
    assert "harness2" in (tmp_path / "home" / ".bashrc").read_text()


def test_an_unknown_shell_is_told_with_the_known_ones(typed: Callable[..., Any]) -> None:
    said = typed("completion", "show", "tcsh")
    assert said.code == 1
    assert "zsh" in said.err


def test_the_quick_list_of_commands_says_what_discovery_does(distributions: Any, tmp_path: Path) -> None:
    distributions.add("one-made", {"command.one": "one_made", "judge.x": "one_made"}, {})
    distributions.add("two-made", {"command.two": "two_made", "command.Bad": "two_made"}, {}, version="2.1")
    distributions.add("old-made", {"command.old": "old_made"}, {}, group="harness2.v0")
    distributions.add("nothing-made", {}, {}, entry_points="")
    (tmp_path / "later").mkdir()
    for path in (distributions.folder / "one_made-1.0.dist-info").iterdir():
        shadowed = tmp_path / "later" / "One.Made-0.9.dist-info"
        shadowed.mkdir(exist_ok=True)
        (shadowed / path.name).write_text(path.read_text().replace("1.0", "0.9").replace("one-made", "One.Made"))
    folders = [str(distributions.folder), str(tmp_path / "later"), str(tmp_path / "missing")]
    wanted = [item for item in scan(folders).found if item.kind == "command"]
    assert list(installed_commands(folders)) == wanted
    assert [item.name for item in wanted] == ["one", "two"]


def test_here_the_quick_list_says_what_discovery_does() -> None:
    wanted = [item for item in scan().found if item.kind == "command"]
    assert list(installed_commands()) == wanted


@pytest.mark.parametrize("broken", ["entry_points.txt", "METADATA"])
def test_where_metadata_is_odd_discovery_decides(distributions: Any, broken: str) -> None:
    distributions.add("one-made", {"command.one": "one_made"}, {})
    file = distributions.folder / "one_made-1.0.dist-info" / broken
    file.write_text(
        file.read_text() + "\nno equals sign\n" if broken == "entry_points.txt" else "Metadata-Version: 2.1\n"
    )
    wanted = [item for item in scan(distributions.path).found if item.kind == "command"]
    assert list(installed_commands(distributions.path)) == wanted
