"""Plugins as users have them: wheels that pip installs into a virtual environment, and the console there.

The environment sees core and its dependencies through this interpreter's packages; our own distributions come from
wheels made here, so nothing is fetched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import harness2_core

pytestmark = [pytest.mark.venv, pytest.mark.process]

WORK = """
    from attrs import frozen

    @frozen
    class Settings:
        size: int = 3

    class Vault:
        def __init__(self, settings): ...
"""


class Environment:
    """A virtual environment, its pip and its `harness2`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed: list[str] = []
        venv.create(folder / "env", with_pip=True, symlinks=os.name != "nt")
        scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.python = scripts / "python"
        site = self._out(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
        core = Path(harness2_core.__file__).parent.parent
        seen = [sysconfig.get_path("purelib"), str(core)]
        (Path(site) / "core.pth").write_text("import site; " + "; ".join(f"site.addsitedir({item!r})" for item in seen))

    def pip(self, *arguments: str) -> None:
        done = self._out(self.python, "-m", "pip", *arguments)
        assert done.returncode == 0, done.stderr

    def install(self, *wheels: Path) -> None:
        self.pip("install", "--no-index", "--no-deps", "--quiet", *map(str, wheels))
        self.installed += [wheel.name.partition("-")[0] for wheel in wheels]

    def clear(self) -> None:
        """Leaves it as it was made: making one takes many seconds."""
        if self.installed:
            self.pip("uninstall", "--yes", "--quiet", *self.installed)
        self.installed = []
        shutil.rmtree(self.folder / "user", ignore_errors=True)

    def harness2(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = "import sys; from harness2_core.cli.main import main; main()"
        return self._out(self.python, "-P", "-c", program, *arguments)

    def listed(self) -> dict[str, dict[str, str]]:
        """`<distribution>/<name>` -> the row of `plugins list`."""
        rows = json.loads(self.harness2("plugins", "list", "--json").stdout)
        return {f"{row['distribution']}/{row['name']}": row for row in rows}

    def _out(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HARNESS2_", "PYTHON", "PIP_"))
        }
        env = {**kept, "XDG_CONFIG_HOME": str(self.folder / "user"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, cwd=self.folder, env=env, timeout=600, check=False
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def environment(made: Environment) -> Iterator[Environment]:
    yield made
    made.clear()


def test_a_plugin_appears_when_it_is_installed_and_goes_when_it_is_uninstalled(
    environment: Environment, wheel: Callable[..., Path], source: Callable[..., str]
) -> None:
    text = source("store", "zz-vault", "zz_package.work:Vault", "zz_package.work:Settings")
    modules = {"zz_package/__init__.py": "", "zz_package/plugin.py": text, "zz_package/work.py": WORK}
    environment.install(wheel("Quite.Another-Name", {"store.zz-vault": "zz_package.plugin"}, modules, version="2.5"))

    assert environment.listed()["Quite.Another-Name/zz-vault"]["state"] == "ok"
    shown = environment.harness2("plugins", "show", "quite-another-name:zz-vault")
    assert shown.returncode == 0, shown.stderr
    assert "size: integer; default 3" in shown.stdout

    environment.pip("uninstall", "--yes", "--quiet", "quite-another-name")
    assert "Quite.Another-Name/zz-vault" not in environment.listed()


def test_a_broken_plugin_stops_no_other_command_not_even_its_own_removal(
    environment: Environment, wheel: Callable[..., Path], source: Callable[..., str], tmp_path: Path
) -> None:
    good = source("store", "zz-good", "zz_good_work:Vault", "zz_good_work:Settings")
    environment.install(
        wheel("zz-good", {"store.zz-good": "zz_good"}, {"zz_good.py": good, "zz_good_work.py": WORK}),
        wheel("zz-broken", {"store.zz-broken": "zz_broken"}, {"zz_broken.py": "raise OSError('no such luck')"}),
        wheel("zz-leaves", {"command.zz-leaves": "zz_leaves"}, {"zz_leaves.py": "import sys; sys.exit(5)"}),
        wheel("zz-newer", {"store.zz-newer": "zz_newer"}, {}, requires=["harness2-core>=99"]),
        wheel("zz-future", {"store.zz-future": "zz_future"}, {}, group="harness2.v2"),
    )

    assert environment.harness2("--help").returncode == 0
    states = {name: row["state"] for name, row in environment.listed().items() if name.startswith("zz-")}
    assert states == {
        "zz-good/zz-good": "ok",
        "zz-broken/zz-broken": "ok",
        "zz-leaves/zz-leaves": "ok",
        "zz-newer/zz-newer": "other core version",
        "zz-future/zz-future": "other API version",
    }
    assert environment.harness2("plugins", "show", "zz-good").returncode == 0

    broken = environment.harness2("plugins", "show", "zz-broken")
    assert broken.returncode == 1
    assert "zz-broken 1.0" in broken.stderr
    assert "pip install -U zz-broken" in broken.stderr

    assert environment.harness2("plugins", "disable", "zz-broken").returncode == 0
    assert environment.listed()["zz-broken/zz-broken"]["state"] == "disabled"
    environment.pip("uninstall", "--yes", "--quiet", "zz-broken")
    assert environment.harness2("plugins", "list").returncode == 0


def test_two_distributions_with_one_name_clash_until_one_is_chosen_or_gone(
    environment: Environment, wheel: Callable[..., Path], source: Callable[..., str]
) -> None:
    wheels: list[Any] = []
    for name in ("zz-one", "zz-two"):
        module = name.replace("-", "_")
        text = source("store", "zz-vault", f"{module}_work:Vault")
        wheels.append(wheel(name, {"store.zz-vault": module}, {f"{module}.py": text, f"{module}_work.py": WORK}))
    environment.install(*wheels)

    clash = environment.harness2("plugins", "show", "zz-vault")
    assert clash.returncode == 1
    assert "zz-one 1.0" in clash.stderr
    assert "zz-two 1.0" in clash.stderr
    assert "zz_one_work:Vault" in environment.harness2("plugins", "show", "zz-one:zz-vault").stdout

    environment.pip("uninstall", "--yes", "--quiet", "zz-two")
    assert environment.harness2("plugins", "show", "zz-vault").returncode == 0
