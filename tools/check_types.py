"""Runs mypy in strict mode over core, every plugin, all tests, these tools, and a typed plugin of a stranger.

    python tools/check_types.py

Each plugin's tests are checked apart: test files of two plugins may bear one name, and mypy would take them for one
module.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    plugins = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
    packages = [str(package) for plugin in plugins for package in sorted(plugin.glob("harness2_*"))]
    failed = mypy(["harness2_core", "tests", "tools", *packages], plugins)
    failed |= mypy(["-p", "shellwork"], [ROOT / "tests" / "downstream" / "shellwork" / "src"])
    for plugin in plugins:
        if any(plugin.glob("tests/**/*.py")):
            failed |= mypy([str(plugin / "tests")], [plugin])
    return int(failed)


def mypy(paths: list[str], search: list[Path]) -> bool:
    """Whether mypy found something wrong in `paths`; packages are looked up in `search` first."""
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, search))}
    shown = ", ".join(os.path.relpath(path, ROOT) for path in paths)
    print(f"mypy {shown}", flush=True)
    return subprocess.run([sys.executable, "-m", "mypy", *paths], cwd=ROOT, env=environment).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
