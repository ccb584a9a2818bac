"""`harness2 plugins new KIND NAME --from EXAMPLE`: what is begun from a shipped plugin works under its new name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness2_core.cli.main import run
from harness2_core.cli.scaffold.example import example_of
from harness2_core.cli.scaffold.naming import Names
from harness2_core.cli.scaffold.writing import rendered, write
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.model.kinds import KINDS
from harness2_core.plugins.registry import Registry

SLOW = "not (Store or Sandbox) or it_is_a"
"""Contracts that take long: what holds for them is tried with the plugins themselves."""


def lay_out(found: Any, registry: Registry, root: Path) -> Names:
    """The plugin begun from `found`, as an editable installation leaves it."""
    number = len(list(root.iterdir()))
    token = f"z{chr(97 + number // 26)}{chr(97 + number % 26)}"
    names = Names(found.kind, f"zz-{found.kind}-{found.name}"[:30].rstrip("-"), token)
    folder = root / names.distribution
    write(rendered(names, example_of(registry, found.kind, found.qualified)), folder)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{names.package}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {names.distribution}\nVersion: 0.1.0\n")
    (entries,) = project["entry-points"].items()
    (info / "entry_points.txt").write_text(f"[{entries[0]}]\n" + "".join(f"{k} = {v}\n" for k, v in entries[1].items()))
    return names


@pytest.mark.process
@pytest.mark.together
def test_what_is_begun_from_a_shipped_plugin_works_and_passes_its_tests(tmp_path: Path) -> None:
    registry = Registry.installed()
    shipped = [
        found
        for kind in KINDS
        for found in registry.catalog.all(kind)
        if found.distribution.startswith("harness2-") and found.distribution != "harness2-core"
    ]
    assert {"mode", "selector", "reflector", "store", "engine", "sandbox", "adapter", "substrate"} <= {
        found.kind for found in shipped
    }
    made = [lay_out(found, registry, tmp_path) for found in shipped]
    folders = [str(tmp_path / names.distribution) for names in made]
    search = os.pathsep.join([*folders, *(item for item in sys.path if item)])
    options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-k", SLOW]

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"{folder}/tests" for folder in folders)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.together
def test_the_code_goes_along_as_far_as_it_is_needed(tmp_path: Path) -> None:
    names = Names("adapter", "zz-mine")
    texts = rendered(names, example_of(Registry.installed(), "adapter", "tasks"))
    package = {path for path in texts if path.startswith("harness2_zz_mine/")}
    assert {"harness2_zz_mine/plugin.py", "harness2_zz_mine/tasks.py", "harness2_zz_mine/settings.py"} <= package
    assert not [path for path in package if "demo" in path or "scripted" in path]
    assert not [path for path, text in texts.items() if "harness2_local" in text]
    assert "Begun from adapter 'tasks' of harness2-local" in texts["README.md"]


@pytest.mark.together
def test_the_command_says_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plugins", "new", "mode", "zz-mine", "--from", "agg", "--to", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "harness2_zz_mine/parallel.py" in told["files"]
    assert (
        sorted(path.relative_to(told["folder"]).as_posix() for path in tmp_path.rglob("*") if path.is_file())
        == told["files"]
    )


@pytest.mark.parametrize(
    ("kind", "example", "says"), [("access", "plain", "part of core"), ("mode", "no-such-mode", "no mode is named")]
)
def test_what_nothing_can_be_begun_from_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, example: str, says: str
) -> None:
    assert run(["plugins", "new", kind, "zz-mine", "--from", example, "--to", str(tmp_path)]) == 1
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_listener_is_its_own_module(distributions: Any) -> None:
    distributions.add("acme", {"listener.zz": "zz_listens"}, {"zz_listens.py": ""})
    with pytest.raises(ConfigError, match="its own module"):
        example_of(Registry.installed(path=distributions.path), "listener", "zz")


def test_a_plugin_that_is_one_file_is_no_project(distributions: Any, source: Any) -> None:
    distributions.add("acme", {"store.zz": "zz_store"}, {"zz_store.py": source("store", "zz", "zz_store:make")})
    with pytest.raises((ConfigError, PluginError), match="no package"):
        example_of(Registry.installed(path=distributions.path), "store", "zz")
