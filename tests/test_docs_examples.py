"""Examples that pages show are run: installed, made and held to their contracts. Transcripts have their own file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from harness2_core import testing
from harness2_core.api import (
    Adapter,
    BenchWords,
    Engine,
    HarnessTree,
    Judge,
    Mode,
    ModelAccess,
    Proposer,
    Reflector,
    Sandbox,
    Selector,
    Store,
    Substrate,
)
from harness2_core.cli import main
from harness2_core.method.missions import core_templates, mission
from harness2_core.model.kinds import KINDS
from harness2_core.plugins import facade
from harness2_core.plugins.discovery import scan
from harness2_core.plugins.registry import Registry
from harness2_core.testing.toy_agent import TOY_SURFACE

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PLUGINS = ROOT / "docs" / "plugins.md"
LONGEST = 60
"""Lines with something on them that an example may have."""
PROTOCOLS = {
    "adapter": Adapter,
    "substrate": Substrate,
    "proposer": Proposer,
    "mode": Mode,
    "selector": Selector,
    "reflector": Reflector,
    "judge": Judge,
    "store": Store,
    "engine": Engine,
    "sandbox": Sandbox,
    "access": ModelAccess,
}


@frozen
class Shown:
    """The plugins of one page: entry points, modules, and tests by file name."""

    entries: Mapping[str, str]
    modules: Mapping[str, str]
    tests: Mapping[str, str]


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [inside for name, inside in found if name == language]


def plugins_of(page: Path) -> Shown:
    entries: dict[str, str] = {}
    files: dict[str, str] = {}
    for text in blocks(page, "toml"):
        project = tomllib.loads(text).get("project", {})
        entries |= project.get("entry-points", {}).get("harness2.v1", {})
    for text in blocks(page, "python"):
        named = re.match(r"# (\w+\.py)\n", text)
        if named:
            assert named[1] not in files, f"{page.name} shows {named[1]} twice"
            files[named[1]] = text
    tests = {name: text for name, text in files.items() if name.startswith("test_")}
    return Shown(entries, {name: files[name] for name in files if name not in tests}, tests)


def installed(shown: Shown, folder: Path) -> Path:
    """A site directory in which these plugins are installed, as one distribution."""
    info = folder / "site" / "of_the_page-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: of-the-page\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}\n" for name, module in shown.entries.items())
    (info / "entry_points.txt").write_text(f"[harness2.v1]\n{lines}")
    for name, text in shown.modules.items():
        (folder / "site" / name).write_text(text, encoding="utf-8")
    return folder / "site"


def contracts(shown: Shown, folder: Path) -> None:
    """Runs the tests of the page against its plugins, as their author would."""
    site = installed(shown, folder)
    for name, text in shown.tests.items():
        (folder / name).write_text(text, encoding="utf-8")
    tests = [str(folder / name) for name in shown.tests]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= 5 * len(tests)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = installed(plugins_of(PLUGINS), tmp_path)
    monkeypatch.syspath_prepend(str(made))
    return made


# -- the page of plugins


def test_there_is_an_example_of_every_kind() -> None:
    assert {name.split(".")[0] for name in plugins_of(PLUGINS).entries} == {*KINDS, "defaults"}


def test_every_contract_class_is_named_and_used() -> None:
    page = PLUGINS.read_text(encoding="utf-8")
    classes = [name for name in testing.__all__ if name.endswith("Contract")]
    assert len(classes) == len(KINDS)
    assert [name for name in classes if f"`{name}`" not in page or f"({name}):" not in page] == []


def test_examples_are_short() -> None:
    lengths = {name: sum(map(bool, text.splitlines())) for name, text in plugins_of(PLUGINS).modules.items()}
    assert {name: length for name, length in lengths.items() if length >= LONGEST} == {}


def test_every_example_is_found_by_its_entry_point(site: Path) -> None:
    found = scan([str(site)])
    assert found.flaws == ()
    assert {f"{item.kind}.{item.name}" for item in found.found} == {
        ".".join(name.split(".")[:2]) for name in plugins_of(PLUGINS).entries
    }


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_every_example_makes_what_its_kind_asks_for(kind: str, site: Path, tmp_path: Path) -> None:
    registry = Registry.installed(path=[str(site)])
    (name,) = [name for name in registry.names(kind) if name != "plain"]
    cls = registry.settings_class(kind, name)
    wanted = {"path": tmp_path / "there", "command": ("true",)}
    settings = None
    if cls is not None:
        settings = cls(**{name: value for name, value in wanted.items() if name in cls.__annotations__})
    if kind == "store":
        made: object = facade.store(registry, name, settings, tmp_path / "runs")
    else:
        made = getattr(facade, kind)(registry, name, settings)
    assert isinstance(made, PROTOCOLS[kind])
    if isinstance(made, Engine):
        made.close()


def test_the_listener_of_the_page_is_asked(site: Path) -> None:
    (extra,) = facade.extras(Registry.installed(path=[str(site)]), ["guard"])
    assert extra.check_tree(HarnessTree({"a.md": "see https://example.org\n", "b.md": "fine\n"})) == (
        "a.md names a URL: harnesses work offline",
    )
    assert isinstance(extra.preflight(), tuple)


def test_the_table_of_defaults_of_the_page_counts(site: Path) -> None:
    assert Registry.installed(path=[str(site)]).default("access") == "keyfile"


@pytest.mark.process
def test_the_examples_keep_their_contracts(tmp_path: Path) -> None:
    contracts(plugins_of(PLUGINS), tmp_path)


@pytest.mark.process
@pytest.mark.together
def test_the_example_of_a_command_counts_tasks(
    site: Path, own_tasks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_tasks)
    monkeypatch.setenv("HARNESS2_RUN__ACCESS", "plain")  # the page's table of defaults says otherwise
    assert main.run(["run", "--plain"]) == 0
    capsys.readouterr()
    assert main.run(["tally"]) == 0
    assert capsys.readouterr().out == "    1 ok\n"


# -- the README


@pytest.fixture
def own_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example of own tasks, as the README has it copied."""
    for variable in [name for name in os.environ if name.startswith("HARNESS2_")]:
        monkeypatch.delenv(variable)
    folder = tmp_path / "my-folder"
    folder.mkdir()
    shutil.copytree(ROOT / "examples" / "own-tasks", folder / "own-tasks")
    shutil.copy(ROOT / "examples" / "own-tasks.toml", folder / "harness2.toml")
    return folder


def test_the_configuration_in_the_readme_is_the_one_of_the_example() -> None:
    (shown,) = [tomllib.loads(text) for text in blocks(README, "toml") if text.startswith("# harness2.toml")]
    assert shown == tomllib.loads((ROOT / "examples" / "own-tasks.toml").read_text(encoding="utf-8"))


def test_the_check_program_in_the_readme_is_the_one_of_the_example() -> None:
    (shown,) = [text for text in blocks(README, "python") if "checks/check_words.py\n" in text]
    path, _, text = shown.removeprefix("# ").partition("\n")
    assert text == (ROOT / "examples" / path).read_text(encoding="utf-8")


def test_the_folder_in_the_readme_is_the_one_of_the_example() -> None:
    (shown,) = [text for text in blocks(README, "") if text.startswith("harness2.toml\n")]
    named = re.findall(r"^ +([\w./]+?)/?(?: {2,}.*)?$", shown, re.MULTILINE)
    files = [path for path in (ROOT / "examples" / "own-tasks").rglob("*") if path.is_file()]
    assert [path.name for path in files if not any(path.as_posix().endswith(name) for name in named)] == []


@pytest.mark.process
def test_the_plugin_of_the_readme_keeps_its_contract(tmp_path: Path) -> None:
    contracts(plugins_of(README), tmp_path)


@pytest.mark.process
@pytest.mark.together
def test_the_plugin_of_the_readme_runs(
    own_tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Path(sys.executable).with_name("harness2")
    site = installed(plugins_of(README), tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def typed(*arguments: str) -> str:
        done = subprocess.run([program, *arguments], cwd=own_tasks, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "every edit is a final" in typed("plugins", "show", "uncomposed")
    assert "own_tasks-py-agg1: 1 ok" in typed("run", "--modes", "parallel,uncomposed")
    assert "unc: inv1" in typed("show")


def test_the_mode_with_texts_of_its_own_renders_them() -> None:
    (text,) = blocks(ROOT / "docs" / "missions.md", "python")
    made: dict[str, Any] = {}
    exec(text, made)
    mode = made["Tidy"]()
    (stage,) = mode.plan(2).stages
    templates = core_templates().with_texts(mode.templates().texts)
    told = mission(stage, ("`context/task.md`: the task",), BenchWords("Letters are read."), TOY_SURFACE, templates)
    assert told.startswith("Make the harness shorter without changing what it does.\n")
    assert "- `context/task.md`: the task\n" in told


# -- what a run leaves


@pytest.mark.process
@pytest.mark.together
def test_every_file_that_a_run_leaves_is_on_the_page(own_tasks: Path) -> None:
    program = Path(sys.executable).with_name("harness2")
    for command in (["run"], ["judge", "--bases"]):
        subprocess.run([program, *command], cwd=own_tasks, capture_output=True, timeout=300, check=True)
    places = described((ROOT / "docs" / "on-disk.md").read_text(encoding="utf-8"))
    left = [path.relative_to(own_tasks).as_posix() for path in own_tasks.glob("runs/**/*") if path.is_file()]
    assert len(left) > 15
    assert [path for path in left if not any(re.fullmatch(place, path) for place in places)] == []
    assert [place for place in places if not any(re.fullmatch(place, path) for path in left)] == []


def described(page: str) -> list[str]:
    """The paths in the block at the top of the page, as patterns: `<x>` is any name, a folder holds anything."""
    paths = re.findall(r"^(runs/.+?)(?: {2,}.*)?$", page, re.MULTILINE)
    literal = [re.split(r"(<[^>]+>|\.\.\.)", path) for path in paths]
    patterns = ["".join("[^/]*" if number % 2 else re.escape(part) for number, part in enumerate(of)) for of in literal]
    return [f"{pattern}.*" if pattern.endswith("/") else pattern for pattern in patterns]


# -- Python


@pytest.mark.process
@pytest.mark.together
def test_the_page_on_python_runs_from_top_to_bottom(own_tasks: Path) -> None:
    program = "\n".join(blocks(ROOT / "docs" / "python.md", "python"))
    done = subprocess.run(
        [sys.executable, "-c", program.replace('"run.modes": "parallel,sampling"', '"run.modes": "parallel"')],
        cwd=own_tasks,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "finished letters/spring" in done.stdout
    assert 'read_text(encoding="cp1252")' in done.stdout


@pytest.mark.process
@pytest.mark.together
def test_the_lines_of_python_in_the_readme_run(own_tasks: Path) -> None:
    (program,) = [text for text in blocks(README, "python") if "run_sweep" in text]
    done = subprocess.run([sys.executable, "-c", program], cwd=own_tasks, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "own_tasks-py-agg1 {'letters/spring': 'ok'} 4" in done.stdout
