"""`init`: a commented configuration that is what it says, and a small benchmark that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.plugins.config import Config
from harness2_core.plugins.run_settings import RunSettings


@pytest.fixture
def text(typed: Callable[..., Any]) -> str:
    said = typed("init", "--to", "new.toml")
    assert said.code == 0
    return Path("new.toml").read_text(encoding="utf-8")


def test_a_new_configuration_has_every_setting_with_its_help(text: str) -> None:
    for line in (
        "# Base rollouts of a task, and stages of each kind.\n# k = 1\n",
        "# [roles.judge]\n",
        "# Whole harnesses that a session sees, newest first; an index lists all.\n# max_harnesses = 20\n",
        "# seed = <an integer>\n",
    ):
        assert line in text
    assert "[adapters.tasks]\n" in text
    assert "# [proposers.scripted]\n" in text


def test_what_is_active_in_it_is_read_as_the_defaults(text: str) -> None:
    config = Config.load(Path("new.toml"), {})
    assert config.structure("run", RunSettings) == RunSettings(bench="tasks", substrate="python")


def test_what_is_commented_out_is_its_default_too(text: str, tmp_path: Path) -> None:
    """Every `# key = value` line, uncommented; pointed brackets say that there is no default."""
    lines = [re.sub(r"^# (?=\[|[a-z_]+ = (?!<))", "", line) for line in text.splitlines()]
    (tmp_path / "open.toml").write_text("\n".join(lines), encoding="utf-8")
    config = Config.load(tmp_path / "open.toml", {})
    wanted = RunSettings(bench="tasks", substrate="python", runs=tmp_path / "runs")
    assert config.structure("run", RunSettings) == wanted
    assert config.value("roles.improver", "limit_seconds").value == 3600  # type: ignore[union-attr]


def test_a_file_to_write_is_refused_where_a_benchmark_brings_its_own(typed: Callable[..., Any], tmp_path: Path) -> None:
    said = typed("init", "tasks", "new-folder", "--to", "mine.toml")
    assert said.code == 1
    assert "mine.toml" in said.err
    assert "leave out --to" in said.err
    assert not (tmp_path / "new-folder").exists()


def test_nothing_is_overwritten(typed: Callable[..., Any], tmp_path: Path) -> None:
    Path("mine.toml").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    for arguments in (("--to", "mine.toml"), ("tasks", "full")):
        said = typed("init", *arguments)
        assert said.code == 1
        assert "exists" in said.err
    assert Path("mine.toml").read_text() == "mine"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]


def test_a_broken_plugin_is_left_out_by_name(bench: Any, typed: Callable[..., Any]) -> None:
    bench._distributions.add("broken-made", {"judge.broken": "broken_made"}, {"broken_made.py": "1 / 0"})
    said = typed("init", "--to", "new.toml")
    assert said.code == 0
    assert "left out: judge 'broken' of broken-made 1.0" in said.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("tasks",), "needs a directory"),
        (("taskz", "x"), "did you mean 'tasks'"),
        (("plainbench", "x"), "ships no benchmark to start from"),
    ],
)
def test_what_cannot_be_laid_out_is_told(
    bench: Any, typed: Callable[..., Any], arguments: tuple[str, ...], told: str
) -> None:
    bench.plugin("adapter", "plainbench", "class Made: ...")
    said = typed("init", *arguments)
    assert said.code == 1
    assert told in said.err
    assert not Path("x").exists()


@pytest.mark.process
def test_the_small_benchmark_runs_and_is_improved(
    typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert typed("init", "tasks", "mine").code == 0
    monkeypatch.chdir(tmp_path / "mine")
    assert typed("check").code == 0
    assert typed("run", "--max-tasks", "1").code == 0
    assert typed("judge", "--bases").code == 0
    (row,) = typed("report", "--json").json["modes"]
    assert (row["base"], row["adopted"]) == ("0", "1")
