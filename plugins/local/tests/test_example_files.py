"""The examples as data of the distribution: complete, and copied without harm."""

from __future__ import annotations

import gzip
import importlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from harness2_local.example_files import EXAMPLES, TASKS, copy_to, example_domains, example_files
from harness2_local.folders import files_below
from harness2_local.playbook import read_playbook
from harness2_local.settings import TasksSettings
from harness2_local.tasks import TaskFolders
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import ConfigError


def test_a_copy_is_a_bench_of_its_own(tmp_path: Path) -> None:
    copied = copy_to(tmp_path / "new" / "examples")
    assert "harness2.toml" in copied
    bench = TaskFolders(TasksSettings(tmp_path / "new" / "examples" / "tasks"))
    assert bench.preflight() == ()
    assert bench.tasks("all") == TaskFolders(TasksSettings(TASKS)).tasks("all")
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


def test_every_domain_has_its_playbook_in_the_configuration() -> None:
    playbooks = tomllib.loads((EXAMPLES / "harness2.toml").read_text())["proposers"]["scripted"]["playbooks"]
    domains = {task.split("/")[0] for task in TaskFolders(TasksSettings(TASKS)).tasks("all")}
    assert set(example_domains()) == domains
    assert playbooks == {domain: f"tasks/{domain}/playbook.toml" for domain in sorted(domains)}


@pytest.mark.parametrize("domain", example_domains())
def test_every_remedy_fits_the_base_program_or_another_remedy(domain: str) -> None:
    """A program that was tidied up must not lose what its playbook looks for."""
    base = {path: file.read_text() for path, file in files_below(TASKS / "base").items()}
    remedies = read_playbook(TASKS / domain / "playbook.toml").remedies
    assert remedies
    for remedy in remedies:
        assert remedy.from_library is not None or remedy.mended(base, None) is not None, remedy.name


@pytest.mark.parametrize("maker", ["make_ledgers", "make_sensors", "make_weblogs"])
def test_the_committed_files_are_to_the_byte_what_their_maker_writes(
    maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    made: Mapping[str, bytes] = importlib.import_module(maker).files()
    for path, data in made.items():
        assert (EXAMPLES / path).read_bytes() == data, f"run {maker}.py: {path} differs"
    folders = {path.parent for path in map(Path, made)}
    assert {EXAMPLES / path for path in made} == {file for folder in folders for file in (EXAMPLES / folder).iterdir()}


@given(st.binary(max_size=200) | st.text("ab\n", max_size=2_000).map(str.encode))
def test_what_is_compressed_for_the_examples_is_gzip_and_reads_back(data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(EXAMPLES)
        assert gzip.decompress(importlib.import_module("make_gzip").gzipped(data)) == data
