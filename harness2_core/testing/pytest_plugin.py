"""The kit as a pytest plugin: fixtures for whoever tests a plugin of Harness2. pytest finds it where core is installed.

| fixture | gives |
| --- | --- |
| `harness2_home` | an isolated home: directories, variables, canaries in the place of keys |
| `run_harness2` | `harness2 ...` in that home, and assertions that nothing was left behind |
| `model_server` | a model server on loopback that plays scripted turns |

Until a fixture is used, nothing of the product is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .home import Harness2Home
    from .model_server import ModelServer
    from .running import RunHarness2


def pytest_configure(config: pytest.Config) -> None:
    """The mark that contract tests bear, for projects that know none of ours."""
    config.addinivalue_line("markers", "process: starts real processes")


@pytest.fixture
def harness2_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness2Home:
    """An isolated home, in force until the test has ended: variables, current directory, temporary files."""
    from .home import Harness2Home

    made = Harness2Home(tmp_path / "harness2")
    made.make()
    for name in [name for name in os.environ if name.startswith("HARNESS2_")]:
        monkeypatch.delenv(name)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", str(made.temp))
    monkeypatch.chdir(made.work)
    return made


@pytest.fixture
def run_harness2(harness2_home: Harness2Home) -> RunHarness2:
    """`run_harness2("plugins", "list")` calls the program; see `harness2_core.testing.running`."""
    from .running import RunHarness2

    return RunHarness2(harness2_home)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A model server on loopback; give it turns with `model_server.play(...)`."""
    from .model_server import ModelServer

    with ModelServer() as server:
        yield server
