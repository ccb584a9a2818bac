"""The plugins of strangers in `tests/downstream` stand for the versions of the API that are supported."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from harness2_core.plugins.core_version import unmet
from harness2_core.plugins.discovery import API_VERSION, OLDEST_API

FOLDERS = sorted(
    path.parent for path in Path(__file__).resolve().parent.parent.joinpath("downstream").glob("*/pyproject.toml")
)


def projects() -> dict[str, Any]:
    return {
        folder.name: tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in FOLDERS
    }


def test_the_oldest_supported_version_and_the_newest_are_each_spoken_by_one() -> None:
    spoken = {name: list(project["entry-points"]) for name, project in projects().items()}
    assert spoken == {"hedge": [f"harness2.v{OLDEST_API}"], "shellwork": [f"harness2.v{API_VERSION}"]}


def test_they_are_of_different_kinds() -> None:
    kinds = [
        entry.partition(".")[0]
        for project in projects().values()
        for entry in next(iter(project["entry-points"].values()))
    ]
    assert sorted(kinds) == sorted(set(kinds))


def test_this_core_is_one_that_they_were_written_for() -> None:
    for project in projects().values():
        core = tuple(text for text in project["dependencies"] if text.startswith("harness2-core"))
        assert core
        assert unmet(core) == ""


def test_they_import_nothing_but_what_is_meant_for_plugins() -> None:
    for file in (path for folder in FOLDERS for path in folder.rglob("*.py")):
        for module in re.findall(
            r"^(?:from|import) (harness2_core[\w.]*)", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            assert module.startswith(("harness2_core.api", "harness2_core.testing")) or module == "harness2_core", file


def test_each_has_tests_and_a_page() -> None:
    for folder in FOLDERS:
        assert (folder / "README.md").is_file()
        assert list(folder.glob("tests/test_*.py"))
