"""The kit as a pytest plugin: there for strangers, and free for those who do not use it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

IN_PYTEST = """
import sys
def test_nothing_is_imported():
    heavy = ("typer", "attrs", "attr", "hypothesis", "jinja2")
    assert not [name for name in sys.modules if name.split(".")[0] in heavy]
    ours = sorted(name for name in sys.modules if name.startswith("harness2_core"))
    assert ours == ["harness2_core", "harness2_core.testing", "harness2_core.testing.pytest_plugin"], ours
"""

A_STRANGER = """
import pytest

@pytest.mark.process
def test_the_mark_is_known(run_harness2):
    assert run_harness2("--version").out.startswith("harness2-core")
"""


def pytest_run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest in a project that has no settings of its own and no other plugin."""
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", entry(), *options, str(folder)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def entry() -> str:
    (found,) = entry_points(group="pytest11", name="harness2")
    return found.value


def test_it_costs_nothing_when_it_is_not_used(tmp_path: Path) -> None:
    ran = pytest_run(tmp_path, IN_PYTEST)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_its_fixtures_and_marks_are_there_for_any_project(tmp_path: Path) -> None:
    ran = pytest_run(tmp_path, A_STRANGER, "--strict-markers", "-W", "error")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_its_fixtures_are_explained(tmp_path: Path) -> None:
    shown = pytest_run(tmp_path, "", "--fixtures").stdout
    for name in ("harness2_home", "model_server", "run_harness2"):
        line = shown.partition(f"\n{name}")[2]
        assert line
        assert "no docstring available" not in line[:300]
