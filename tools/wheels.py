"""Builds every distribution and tests each plugin with core alone, as a user would have it.

    python tools/wheels.py [PLUGIN ...]

Core and each plugin become an sdist and, from it, a wheel; both are looked into. Then core by itself, and core with one
plugin at a time and those that it needs, go into fresh environments with `--no-index` for our own distributions: what
they need of others comes from the index first. There the plugin's own tests run, except those marked `together`, and
those of processes (where it has others) and of real agents, which tell nothing of packaging. The plugins of strangers
in `tests/downstream` are tried too, with all their tests, in whatever way they are built and laid out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from pathlib import Path, PurePosixPath
from typing import Any

from install import ROOT, environ, find_uv, plugins

AT_ONCE = 2
NO_TESTS = 5
"""Exit code of pytest when none was chosen."""


class Broken(Exception):
    """A distribution is not as it should be; the text is for people."""


def main(names: Sequence[str]) -> int:
    everybody = [*plugins(), *strangers()]
    chosen = [path for path in everybody if not names or path.name in names]
    with tempfile.TemporaryDirectory(prefix="harness2-wheels-") as scratch:
        dist = Path(scratch, "dist")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            needed = list(dict.fromkeys([ROOT, *(project for path in chosen for project in with_ours(path))]))
            wheels = dict(zip(needed, pool.map(lambda path: build(path, dist), needed), strict=True))
            check_core_alone(wheels[ROOT], dist, Path(scratch, "core"))
            runs = [pool.submit(check_plugin, path, wheels, dist, Path(scratch, path.name)) for path in chosen]
            problems = []
            for path, run in zip(chosen, runs, strict=True):
                try:
                    print(f"== {path.name}\n{run.result()}", flush=True)
                except Broken as error:
                    problems.append(path.name)
                    print(f"== {path.name}: BROKEN\n{error}", flush=True)
    if problems:
        print(f"not usable with core alone: {', '.join(problems)}")
    return 1 if problems else 0


def with_ours(project: Path) -> list[Path]:
    """A project, and the plugins of this checkout that it needs, theirs too."""
    by_name = {str(table(path)["name"]): path for path in plugins()}
    found: dict[Path, None] = {}
    waiting = [project]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            names = (re.match(r"[\w-]+", requirement) for requirement in table(path).get("dependencies", ()))
            waiting += [by_name[name.group()] for name in names if name and name.group() in by_name]
    return list(found)


def table(project: Path) -> dict[str, Any]:
    """The table `[project]` of its pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def strangers() -> list[Path]:
    """Plugins that are laid out and built as their authors please."""
    return sorted(path.parent for path in ROOT.glob("tests/downstream/*/pyproject.toml"))


def build(project: Path, dist: Path) -> Path:
    """Builds and inspects the project's sdist and wheel; returns the wheel."""
    out = dist.parent / "built" / project.name  # apart, so that two builds at once are not mistaken for each other
    uv = find_uv()
    command = [uv, "build", "--quiet"] if uv else [sys.executable, "-m", "build"]
    source = project
    if project in strangers():  # some build tools leave their work beside the sources
        source = Path(shutil.copytree(project, dist.parent / "sources" / project.name))
    run([*command, "--out-dir" if uv else "--outdir", str(out), str(source)])
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    if source == project:
        inspect(project, wheel, sdist)
    dist.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(wheel, dist))


def inspect(project: Path, wheel: Path, sdist: Path) -> None:
    """Both archives hold all of the package's folder, templates and examples too; the wheel holds no test."""
    table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    (package,) = table["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    source = {
        path.relative_to(project).as_posix()
        for path in (project / package).rglob("*")
        if path.is_file()
        and not any(part == "__pycache__" or part[0] == "." for part in path.relative_to(project).parts)
    }
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in archive.getnames()}
    problems = [f"{wheel.name} lacks {name}" for name in sorted(source - in_wheel)]
    problems += [f"{sdist.name} lacks {name}" for name in sorted(source - in_sdist)]
    problems += [f"{sdist.name} lacks {name}" for name in ("README.md", "pyproject.toml") if name not in in_sdist]
    if f"{package}/py.typed" not in in_wheel:
        problems.append(f"{wheel.name} lacks {package}/py.typed: its types would be ignored")
    stem = "-".join(wheel.name.split("-")[:2])
    shared = {
        f"{stem}.data/data/{place}"
        for place in table["tool"]["hatch"]["build"]["targets"]["wheel"].get("shared-data", {}).values()
    }
    problems += [f"{wheel.name} lacks {name}" for name in sorted(shared - in_wheel)]
    strays = {name.split("/")[0] for name in in_wheel - shared} - {package, f"{stem}.dist-info"}
    problems += [f"{wheel.name} would also install {name!r}" for name in sorted(strays)]
    # A program of an example may be named as a test is; a folder of tests outside examples is ours.
    tests = [name for name in in_wheel if "tests" in PurePosixPath(name).parts and "examples" not in name.split("/")]
    problems += [f"{wheel.name} holds the test {name}" for name in sorted(tests)]
    if problems:
        raise Broken("\n".join(problems))


def check_core_alone(wheel: Path, dist: Path, home: Path) -> None:
    """Core's commands work with its declared dependencies only: no plugin, no test tools."""
    python = environment(home, [*third_party([wheel], ())])
    install(python, ["--no-index", "--find-links", str(dist), "harness2-core"])
    run([str(python), "-c", "import harness2_core.api"])
    run([str(python.parent / "harness2"), "--help"], cwd=home)
    run([str(python.parent / "harness2"), "plugins", "list"], cwd=home)


def check_plugin(project: Path, wheels: dict[Path, Path], dist: Path, home: Path) -> str:
    """The closing words of the plugin's tests, run in an environment that holds core, this plugin and what it needs."""
    name = table(project)["name"]
    mine = [wheels[ROOT], *(wheels[path] for path in with_ours(project))]
    python = environment(home, third_party(mine, ("testing",)))
    install(python, ["--no-index", "--find-links", str(dist), f"{name}", "harness2-core[testing]"])
    listed = run([str(python.parent / "harness2"), "plugins", "list"], cwd=home)
    if name not in listed:
        raise Broken(f"`harness2 plugins list` does not show {name}:\n{listed}")
    if not any(project.glob("tests/**/test_*.py")):
        raise Broken(f"{project.name} has no tests")
    shutil.copytree(project / "tests", home / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    chosen = "not together and not agent"
    if project in strangers():
        shutil.copy(project / "pyproject.toml", home)
    else:
        shutil.copy(ROOT / "conftest.py", home)
        shutil.copy(ROOT / "pyproject.toml", home)  # for pytest's markers
        quick = f"{chosen} and not process"
        collect = [str(python), "-m", "pytest", "-q", "--collect-only", "-m", quick, "-p", "no:cacheprovider", "tests"]
        if subprocess.run(collect, cwd=home, env=clean(), capture_output=True).returncode != NO_TESTS:
            chosen = quick
    return run([str(python), "-m", "pytest", "-m", chosen, "-p", "no:cacheprovider", "tests"], cwd=home)


def third_party(wheels: Iterable[Path], extras: Sequence[str]) -> list[str]:
    """What these wheels need of others, as requirements."""
    wanted = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            needed = message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []
        for requirement in needed:
            extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", requirement)
            ours = re.match(r"harness2\b", requirement)
            if not ours and (extra is None or extra.group(1) in extras):
                wanted.append(requirement.split(";")[0].strip() if extra else requirement)
    return list(dict.fromkeys(wanted))


def environment(home: Path, requirements: Sequence[str]) -> Path:
    """The Python of a fresh virtual environment in `home` that holds `requirements`."""
    home.mkdir(parents=True)
    uv = find_uv()
    where = home / ".venv"
    run(
        [uv, "venv", "--quiet", "--python", sys.executable, str(where)]
        if uv
        else [sys.executable, "-m", "venv", str(where)]
    )
    python = where / "bin" / "python"
    install(python, requirements)
    return python


def install(python: Path, arguments: Sequence[str]) -> None:
    uv = find_uv()
    command = (
        [uv, "pip", "install", "--quiet", "--python", str(python)]
        if uv
        else [str(python), "-m", "pip", "install", "-q"]
    )
    run([*command, *arguments])


def clean() -> dict[str, str]:
    """An environment that brings no modules of its own."""
    return {key: value for key, value in environ().items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(command: Sequence[str], cwd: Path = ROOT) -> str:
    """What the command printed; `Broken` when it failed."""
    done = subprocess.run(
        command, cwd=cwd, env=clean(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Broken(f"$ {' '.join(command)}\n{said}\nexit code {done.returncode}")
    return said.rstrip()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Broken as error:
        sys.exit(str(error))
