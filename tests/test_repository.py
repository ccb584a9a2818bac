"""The repository as a whole: what every distribution has, and what no file of ours may hold."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import harness2_core
from harness2_core import api

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
HEADINGS = ["## What", "## Install", "## Use", "## Settings", "## Limits"]
LONGEST = 350
LONGER = {
    "harness2_core/sweep/scheduler.py": "one thread's state and all that changes it: cut in two, neither half reads"
}
"""Module of core -> why it may have more than `LONGEST` lines."""
OWN_FILES = {"bundle": "it has no provider: a table of defaults is all it is"}
"""Plugin -> why it lacks `plugin.py` and `settings.py`."""
COMMAND_PLUGINS = {"local": {"harness2_core.sweep.run", "harness2_core.sweep.read"}}
"""Plugins with commands may also import these."""

by_name = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)


def tracked() -> list[Path]:
    """Files that a commit would hold; outside a Git checkout, the files of the source archive."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listed.returncode:
        return [path for path in ROOT.rglob("*") if path.is_file() and not {".venv", ".tox"} & set(path.parts)]
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def package(plugin: Path) -> Path:
    (name,) = project(plugin)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return plugin / str(name)


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, except for the type checker alone."""
    todo: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            todo.extend(ast.iter_child_nodes(node))


@by_name
def test_a_plugin_reads_like_its_siblings(plugin: Path) -> None:
    assert (plugin / "README.md").is_file()
    assert sorted((plugin / "tests").glob("test_*.py")) != []
    assert (package(plugin) / "__init__.py").is_file()
    if plugin.name not in OWN_FILES:
        hooks = (package(plugin) / "plugin.py").read_text(encoding="utf-8")
        settings = set(re.findall(r"\"([\w.]+):\w*Settings\"", hooks))
        assert settings <= {f"{package(plugin).name}.settings"}
        assert (package(plugin) / "settings.py").is_file() is bool(settings)


@by_name
def test_the_readme_of_a_plugin_has_the_common_headings(plugin: Path) -> None:
    lines = (plugin / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {project(plugin)['project']['name']}"
    outside = re.sub(r"(?ms)^```.*?^```", "", "\n".join(lines))
    assert [line for line in outside.splitlines() if line.startswith("## ")] == HEADINGS


@by_name
def test_the_metadata_of_a_plugin_follow_one_form(plugin: Path) -> None:
    table = project(plugin)["project"]
    expected = "harness2" if plugin.name == "bundle" else f"harness2-{plugin.name}"
    assert (table["name"], table["requires-python"], table["license"]) == (expected, ">=3.11", "Apache-2.0")
    assert "harness2-core>=0.1,<0.2" in table["dependencies"]
    assert set(table["entry-points"]) == {"harness2.v1"}
    assert not table["description"].endswith(".")


@by_name
def test_importing_a_plugins_hooks_imports_nothing_of_its_work(plugin: Path) -> None:
    if plugin.name in OWN_FILES:
        pytest.skip(OWN_FILES[plugin.name])
    assert set(imported(package(plugin) / "plugin.py")) <= {
        "__future__",
        "collections.abc",
        "typing",
        "harness2_core.api",
    }


@by_name
def test_a_plugins_tests_import_the_api_and_the_testing_kit_only(plugin: Path) -> None:
    allowed = COMMAND_PLUGINS.get(plugin.name, set())
    for file in sorted((plugin / "tests").rglob("*.py")):
        names = {name for name in imported(file) if name.partition(".")[0] == "harness2_core"} - allowed
        wrong = {name for name in names if not re.fullmatch(r"harness2_core\.(api|testing)(\..+)?", name)}
        assert wrong == set(), f"{file.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


@by_name
def test_import_linter_knows_every_plugin(plugin: Path) -> None:
    linter = project(ROOT)["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in linter["contracts"]}
    name = package(plugin).name
    assert name in linter["root_packages"]
    assert name in contracts["core-knows-no-plugin"]["forbidden_modules"]
    assert name in contracts["plugins-import-the-api"]["source_modules"]
    assert name in contracts["plugins-stand-alone"]["modules"]


@pytest.mark.parametrize("folder", [ROOT / "harness2_core", *map(package, PLUGINS)], ids=lambda path: path.name)
def test_every_distribution_ships_its_types(folder: Path) -> None:
    assert (folder / "py.typed").is_file()


def test_all_distributions_have_one_version() -> None:
    assert {project(folder)["project"]["version"] for folder in (ROOT, *PLUGINS)} == {harness2_core.__version__}


def test_the_bundle_depends_on_whole_plugins_of_this_repository() -> None:
    needed = {re.split("[<>=]", line)[0] for line in project(ROOT / "plugins" / "bundle")["project"]["dependencies"]}
    assert needed <= {"harness2-core", *(project(plugin)["project"]["name"] for plugin in PLUGINS)}


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_no_file_names_a_place_of_some_machine() -> None:
    machine = re.compile(
        rb"/root/|/home/(?!agent/|me/)[a-z]+/|/Users/[A-Za-z]+/|(?<![\w.-])/work/(?:main|shared|\.library)|/tmp/dev\b"
    )
    found = [path for path in tracked() if path != Path(__file__) and machine.search(path.read_bytes())]
    assert [str(path.relative_to(ROOT)) for path in found] == []


def test_no_file_names_a_registry_or_a_mirror_of_one() -> None:
    setting = re.compile(rb"(?:index-url|extra-index-url|find-links|registry)\s*[=:]\s*[\"']?https?://")
    assert [str(path.relative_to(ROOT)) for path in tracked() if setting.search(path.read_bytes())] == []


def test_text_files_end_their_lines_alike() -> None:
    """Examples may hold any bytes: they are data as it really looks."""
    ours = [
        path for path in tracked() if path.suffix in {".py", ".toml", ".md", ".ini"} and "examples" not in path.parts
    ]
    assert [str(path.relative_to(ROOT)) for path in ours if b"\r" in path.read_bytes()] == []


def test_a_module_of_core_is_a_few_pages_at_most() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "harness2_core").rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST and name not in LONGER} == {}
    assert {name for name in LONGER if lengths.get(name, 0) <= LONGEST} == set()


def test_every_module_says_what_it_is_for() -> None:
    sources = [
        *(ROOT / "harness2_core").rglob("*.py"),
        *(file for plugin in PLUGINS for file in package(plugin).rglob("*.py")),
    ]
    silent = [
        str(path.relative_to(ROOT))
        for path in sources
        if "examples" not in path.parts and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "base", "tools"}
    assert [str(path.relative_to(ROOT)) for path in tracked() if path.suffix == ".py" and path.stem in banned] == []


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions and classes of the API, and the public methods that a plugin author writes or calls."""
    for name in module.__all__:
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        yield name, value
        if inspect.isclass(value):
            for part, member in vars(value).items():
                if not part.startswith("_") and inspect.isfunction(member):
                    yield f"{name}.{part}", member


@pytest.mark.parametrize(
    ("name", "value"), list(public(api)), ids=lambda value: value if isinstance(value, str) else ""
)
def test_everything_a_plugin_author_uses_is_explained(name: str, value: Any) -> None:
    said = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert said, f"{name} has no docstring"
    assert said.strip(), f"{name} has no docstring"


def test_what_the_api_exports_is_sorted_and_there() -> None:
    assert [name for name in api.__all__ if not hasattr(api, name)] == []
    assert len(set(api.__all__)) == len(api.__all__)
