"""The python substrate: what it installs really runs, and what a program says becomes the trajectory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness2_local.python_substrate import SURFACE, PythonSubstrate
from harness2_local.settings import PythonSettings

from harness2_core.api import (
    Accepted,
    Action,
    Channel,
    Endpoint,
    Exit,
    Failure,
    HarnessTree,
    Observation,
    Rejected,
    Trajectory,
    accept,
    render,
)
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.substrate_contract import SubstrateContract

TREE = HarnessTree(
    {
        "scripts/solve.py": "import step\nstep.run()\n",
        "scripts/step.py": "def run():\n    print('stepped')\n",
        "domain/facts.toml": "a = 1\n",
    }
)


class TestContract(SubstrateContract):
    @pytest.fixture
    def substrate(self) -> PythonSubstrate:
        return PythonSubstrate()

    @pytest.fixture
    def tree(self) -> HarnessTree:
        return TREE

    @pytest.fixture
    def working_tree(self) -> HarnessTree:
        return TREE


def run(tmp_path: Path, solve: str, settings: PythonSettings | None = None, limit: int = 60) -> tuple[Exit, Trajectory]:
    """One rollout of the program `solve`, without core around it."""
    agent = PythonSubstrate(settings)
    context = FakeContext(tmp_path / "context")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tree = HarnessTree({**TREE.files, "scripts/solve.py": solve})
    install = agent.install(tree, "Do it: ✓", Channel(), context.place(workspace), Endpoint())
    ended = context.spawn(install, workspace, limit)
    return ended, agent.parse([ended.stdout.read_bytes()], [ended.stderr.read_bytes()], ended)


@pytest.mark.process
def test_the_program_runs_in_the_workspace_and_writes_to_the_output(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys, step\nstep.run()\nout = pathlib.Path(os.environ['HARNESS2_OUTPUT'])\n"
        "out.mkdir()\n(out / 'said.txt').write_text(sys.stdin.read() + os.getcwd(), encoding='utf-8')\n"
    )
    ended, trajectory = run(tmp_path, program)
    assert ended.code == 0
    workspace = tmp_path / "workspace"
    assert (workspace / "output/said.txt").read_text(encoding="utf-8") == f"Do it: ✓{workspace}"
    assert Observation("stepped") in trajectory.events
    assert not list(workspace.rglob("__pycache__"))


@pytest.mark.process
def test_what_goes_wrong_can_be_read_in_the_transcript(tmp_path: Path) -> None:
    _, trajectory = run(tmp_path, "import sys\nprint('error: line 3', file=sys.stderr)\nraise KeyError('Saldo')\n")
    text = render(trajectory)
    assert "[OBSERVATION ERROR]\nerror: line 3\n" in text
    assert "KeyError: 'Saldo'" in text
    assert "[ERROR]\nthe program ended with exit code 1" in text
    assert "no model took part" in text


@pytest.mark.process
def test_a_time_limit_is_told(tmp_path: Path) -> None:
    _, trajectory = run(tmp_path, "import time\ntime.sleep(60)\n", limit=1)
    assert Failure("the program was stopped at its time limit") in trajectory.events


@pytest.mark.process
def test_programs_behave_alike_each_time(tmp_path: Path) -> None:
    program = "print(hash('a'), list({'a', 'b', 'c'}))\n"
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    assert run(tmp_path / "1", program)[1].events == run(tmp_path / "2", program)[1].events


@pytest.mark.process
def test_packages_are_there_only_when_asked_for(tmp_path: Path) -> None:
    program = "import attrs\n"
    for folder in ("1", "2"):
        (tmp_path / folder).mkdir()
    assert run(tmp_path / "1", program, PythonSettings(sys.executable))[0].code == 1
    assert run(tmp_path / "2", program, PythonSettings(sys.executable, packages=True))[0].code == 0


@pytest.mark.parametrize("python", ["missing/python", "~nobody-of-this-name/python"])
def test_an_interpreter_that_is_none_is_told_before_anything_runs(tmp_path: Path, python: str) -> None:
    (problem,) = PythonSubstrate(PythonSettings(python)).preflight()
    assert "no Python interpreter" in problem
    assert "set `python`" in problem
    odd = tmp_path / "odd"
    odd.write_text("#!/bin/sh\nexit 3\n")
    odd.chmod(0o755)
    (problem,) = PythonSubstrate(PythonSettings(str(odd))).preflight()
    assert "does not run as a Python interpreter" in problem
    assert PythonSubstrate().preflight() == ()


def test_it_tells_its_version() -> None:
    assert PythonSubstrate().version() == "python " + ".".join(map(str, sys.version_info[:3]))


def test_no_model_is_paid() -> None:
    trajectory = PythonSubstrate().parse([], [], Exit(0, None, False, False, Path("o"), Path("e")))
    assert (trajectory.usage.usd, trajectory.usage.source) == ("0", "none")
    assert trajectory.events == (Action("python", "harness/scripts/solve.py"),)


@pytest.mark.parametrize("path", ["scripts/Solve2.py", "scripts/a/b.py", "domain/x.json", "inputs/a.csv", "notes.md"])
def test_files_off_the_surface_are_refused(path: str) -> None:
    taken = accept(SURFACE, {**{p: t.encode() for p, t in TREE.files.items()}, path: b"a"})
    assert isinstance(taken, Rejected)


def test_a_harness_is_a_program() -> None:
    assert isinstance(accept(SURFACE, {"scripts/step.py": b"pass\n"}), Rejected)
    assert isinstance(accept(SURFACE, {"scripts/solve.py": b"pass\n"}), Accepted)
    assert isinstance(accept(SURFACE, {"scripts/solve.py": b"if\n"}), Rejected)
