"""Installs core and every plugin of this checkout, editable, into the Python that runs this.

    python tools/install.py [--core-only] [GROUP ...]

A GROUP is a dependency group of `pyproject.toml`. Standard library only, since it runs in an empty environment. uv is
used where it is found or can be had, because it is many times faster; pip does the same work without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str]) -> int:
    core_only = "--core-only" in arguments
    groups = [argument for argument in arguments if argument != "--core-only"]
    local = [ROOT, *([] if core_only else plugins())]
    wanted = [*(f"-e{path}" for path in local), *requirements(groups)]
    for installer in installers():
        if subprocess.run([*installer, *wanted], cwd=ROOT, env=environ(), stdin=subprocess.DEVNULL).returncode == 0:
            return 0
        print(f"{' '.join(installer[:3])} did not succeed", file=sys.stderr)
    return 1


def plugins() -> list[Path]:
    """The plugins' distributions, in a fixed order."""
    return sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))


def requirements(groups: Sequence[str]) -> list[str]:
    """What the dependency groups ask for, groups that they include resolved."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]

    def expanded(group: str) -> Iterator[str]:
        if group not in table:
            raise SystemExit(f"no dependency group {group!r} in pyproject.toml: known are {', '.join(sorted(table))}")
        for item in table[group]:
            if isinstance(item, str):
                yield item
            else:
                yield from expanded(item["include-group"])

    return list(dict.fromkeys(requirement for group in groups for requirement in expanded(group)))


def installers() -> Iterator[list[str]]:
    """Commands that install what follows them, best first; a later one is asked only when the former has failed."""
    uv = find_uv()
    if uv:
        yield [uv, "pip", "install", "--quiet", "--python", sys.executable]
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    yield [*pip, "install", "--quiet", "--disable-pip-version-check"]


def environ() -> dict[str, str]:
    """The environment of installers: uv trusts the certificates of the system, as pip and everything else here does."""
    return {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1", "UV_NO_PROGRESS": "1", **os.environ}


def find_uv() -> str | None:
    """uv beside this Python or on the path; else it is installed beside this Python, if it can be had."""
    beside = Path(sys.executable).parent
    search = os.pathsep.join([str(beside), os.environ.get("PATH", "")])
    if found := shutil.which("uv", path=search):
        return found
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], stdin=subprocess.DEVNULL)
    return shutil.which("uv", path=str(beside))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
