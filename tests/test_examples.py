"""The configurations at the top of the repository work as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CONFIGS = sorted(EXAMPLES.glob("*.toml"))

pytestmark = [pytest.mark.process, pytest.mark.together]


def harness2(config: Path, runs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("harness2"))
    command = [program, "--config", str(config), *arguments, "--runs", str(runs)]
    return subprocess.run(command, cwd=runs.parent, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_configuration_can_be_planned(config: Path, tmp_path: Path) -> None:
    planned = harness2(config, tmp_path / "runs", "plan", "--json")
    assert planned.returncode == 0, planned.stderr
    plan = json.loads(planned.stdout)
    assert plan["left"]["rollouts"] > 0
    assert plan["stream"]


def test_the_smallest_folder_of_tasks_gets_better(tmp_path: Path) -> None:
    config, runs = EXAMPLES / "own-tasks.toml", tmp_path / "runs"
    ran = harness2(config, runs, "run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = json.loads(harness2(config, runs, "judge", "--bases", "--json").stdout)
    assert [(row["mode"], row["score"]) for row in rows] == [("", "0"), ("agg", "1")]
    shown = harness2(config, runs, "show", "letters/spring", "--diff", "agg1")
    assert '+text = Path("inputs/letter.txt").read_text(encoding="cp1252")' in shown.stdout


def test_the_readme_names_every_configuration() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in CONFIGS if f"`{path.name}`" not in readme] == []
    assert len(CONFIGS) == 2
