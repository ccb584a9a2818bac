"""What `harness2 plugins new` makes, for every kind: installed as a stranger would, it works, and reads clean.

One environment for all: it sees core, pytest and hatchling through this interpreter's packages, so nothing is fetched.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import harness2_core
from harness2_core.cli.main import run
from harness2_core.cli.scaffold.kinds import SCAFFOLDS
from harness2_core.cli.scaffold.naming import LONGEST, Names
from harness2_core.cli.scaffold.writing import rendered, write
from harness2_core.model.kinds import KINDS

pytestmark = [pytest.mark.venv, pytest.mark.process]

HEADINGS = ["## What", "## Install", "## Use", "## Settings", "## Limits"]
SLOW = "not hundred_thousand"
"""The one rule of a contract that takes longer than all others: tried with the shipped stores."""

INSTALLED = "proposer"
"""The kind that pip installs; the others are laid out as it would, which takes a tenth of the time."""

each_kind = pytest.mark.parametrize("kind", KINDS)


class Made:
    """A distribution of each kind, `zz-my-<kind>`, installed editable into one environment."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folders = {kind: root / "made" / f"harness2-zz-my-{kind}" for kind in KINDS}
        for kind in KINDS:
            assert run(["plugins", "new", kind, f"zz-My_{kind}", "--to", str(root / "made")]) == 0
        venv.create(root / "env", with_pip=True, symlinks=True)
        self.python = root / "env" / "bin" / "python"
        (site,) = (root / "env").glob("lib/python*/site-packages")
        seen = [sysconfig.get_path("purelib"), str(Path(harness2_core.__file__).parent.parent)]
        (site / "core.pth").write_text("import site; " + "; ".join(f"site.addsitedir({item!r})" for item in seen))
        for kind, folder in self.folders.items():
            if kind != INSTALLED:
                as_installed(folder, site)
        options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
        installed = self.run("-m", "pip", "install", *options, "-e", str(self.folders[INSTALLED]))
        assert installed.returncode == 0, installed.stderr

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The environment's Python, as of a user without a configuration."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HARNESS2_", "PYTHON", "PIP_"))
        }
        env = {**kept, "XDG_CONFIG_HOME": str(self.root / "user"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return subprocess.run(
            [str(self.python), *arguments], cwd=self.root, env=env, capture_output=True, text=True, check=False
        )

    def harness2(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("-P", "-c", "from harness2_core.cli.main import main; main()", *arguments)


def as_installed(folder: Path, site: Path) -> None:
    """What an editable installation leaves: the folder on the path, and the metadata of its `pyproject.toml`."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (site / f"_{project['name']}.pth").write_text(f"{folder}\n")
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in project["dependencies"])
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n{needs}"
    )
    groups = project["entry-points"].items()
    (info / "entry_points.txt").write_text(
        "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups)
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("scaffolds"))


def test_their_own_tests_pass_as_generated(made: Made) -> None:
    report = made.root / "report.xml"
    folders = [str(folder / "tests") for folder in made.folders.values()]
    options = [
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(made.root),
        "-k",
        SLOW,
        "-W",
        "error",
    ]

    ran = made.run("-m", "pytest", "-q", *options, f"--junit-xml={report}", *folders)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    passed = dict.fromkeys(KINDS, 0)
    for case in ET.parse(report).getroot().iter("testcase"):
        (kind,) = re.findall(r"test_zz_my_(\w+)", case.get("classname", "").split(".Test")[0])
        passed[kind] += not len(case)
    assert {kind: count for kind, count in passed.items() if count < 3} == {}


def test_all_are_listed_as_installed_and_usable(made: Made) -> None:
    rows = {row["name"]: row for row in json.loads(made.harness2("plugins", "list", "--json").stdout)}
    for kind in KINDS:
        row = rows[f"zz-my-{kind}"]
        assert (row["kind"], row["state"], row["distribution"]) == (kind, "ok", f"harness2-zz-my-{kind}")


def test_each_can_be_shown_with_what_it_does_and_its_settings(made: Made) -> None:
    program = """
import contextlib, io, json, sys
from harness2_core.cli.main import run
told = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = run(["plugins", "show", name])
    told[name] = f"{code}\\n{out.getvalue()}"
print(json.dumps(told))
"""
    told = json.loads(made.run("-P", "-c", program, *(f"zz-my-{kind}" for kind in KINDS)).stdout)
    for kind in KINDS:
        text = told[f"zz-my-{kind}"]
        assert text.startswith("0\n"), text
        assert kind == "listener" or SCAFFOLDS[kind].does in text
        assert ("settings, in the table" in text) is SCAFFOLDS[kind].settings


def test_a_generated_command_runs_as_part_of_the_program(made: Made) -> None:
    (made.root / "runs" / "adapt" / "toy-toy-agg1").mkdir(parents=True)
    (made.root / "runs" / "adapt" / "toy-toy-agg1" / "config.json").write_text("{}")

    ran = made.harness2("zz-my-command", "--runs", str(made.root / "runs"))

    assert (ran.returncode, ran.stdout) == (0, "toy-toy-agg1  0\n"), ran.stderr


def test_its_code_is_typed_strictly(made: Made) -> None:
    paths = [str(path) for folder in made.folders.values() for path in (folder / "tests", *folder.glob("harness2_*"))]
    search = os.pathsep.join(map(str, made.folders.values()))
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(made.root / "mypy"), *paths],
        cwd=made.root,
        env={**os.environ, "MYPYPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["x", "zz-my", "a-" + "b" * (LONGEST - 2)], ids=["shortest", "usual", "longest"])
def test_its_code_keeps_its_own_rules_of_style_whatever_its_name(tmp_path: Path, name: str) -> None:
    for kind in KINDS:
        write(rendered(Names(kind, name, "xy")), tmp_path / kind)
    for command in (["check"], ["format", "--check", "--diff"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


@each_kind
def test_its_page_and_metadata_read_like_our_own(kind: str) -> None:
    texts = rendered(Names(kind, f"zz-my-{kind}", "zz"))
    lines = texts["README.md"].splitlines()
    table = tomllib.loads(texts["pyproject.toml"])["project"]
    assert lines[0] == f"# {table['name']}"
    assert [line for line in lines if line.startswith("## ")] == HEADINGS
    assert f"harness2-core>={'.'.join(harness2_core.__version__.split('.')[:2])}" in table["dependencies"][0]
    assert max(map(len, lines)) <= 121
