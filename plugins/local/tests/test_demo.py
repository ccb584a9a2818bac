"""The examples as data of the distribution: complete, and copied without harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_local.demo import EXAMPLES, copy_to, example_files
from harness2_local.settings import TasksSettings
from harness2_local.tasks import TaskFolders

from harness2_core.api import ConfigError


def test_a_copy_is_a_bench_of_its_own(tmp_path: Path) -> None:
    copied = copy_to(tmp_path / "new" / "examples")
    assert "harness2.toml" in copied
    bench = TaskFolders(TasksSettings(tmp_path / "new" / "examples"))
    assert bench.preflight() == ()
    assert bench.tasks("all") == TaskFolders(TasksSettings(EXAMPLES)).tasks("all")
    for path in copied:
        assert (tmp_path / "new" / "examples" / path).read_bytes() == (EXAMPLES / path).read_bytes()


def test_what_the_examples_were_made_with_is_not_copied() -> None:
    assert not [path for path in example_files() if "/" not in path and path.endswith(".py")]
    assert [path for path in example_files() if path.endswith("checks/check_summary.py")]


def test_nothing_of_a_users_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not an empty folder"):
        copy_to(tmp_path)
    with pytest.raises(ConfigError, match="not an empty folder"):
        copy_to(tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert copy_to(tmp_path / "empty")
