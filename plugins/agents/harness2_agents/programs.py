"""Finds the program of an agent: the setting, else where `harness2 setup` put it, else on PATH.

Agents come as npm packages whose command is often a small script for Node that starts a native program of a second
package. The native one is what runs here: it starts in a fraction of the time, needs no Node, and one directory is all
a sandbox has to show of it.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import ConfigError

DIRECTORY_VARIABLE: Final = "HARNESS2_AGENTS_DIR"
VERSION_SECONDS: Final = 30
"""How long a program may take to tell its version."""
_STUB_BYTES: Final = 1 << 20
"""A program of these packages that is smaller is what stands in until an install script puts the real one there."""
_NUMBER: Final = re.compile(r"\d+\.\d+\.\d+(?:[-+.][0-9A-Za-z.+-]*[0-9A-Za-z])?")
_MODULES: Final = "node_modules"


@frozen
class Package:
    """An agent as npm knows it, at the version that is tested here.

    `natives` are the native programs, best first, as paths below `node_modules`; in them `{platform}` stands for
    `linux-x64` and the like, `{target}` for `x86_64-unknown-linux-musl` and the like. Versions before `oldest` do not
    understand what is written for them.
    """

    npm: str
    version: str
    program: str
    natives: tuple[str, ...] = ()
    oldest: str = ""
    megabytes: int = 0
    """Of disk, roughly, while it is set up."""


@frozen
class Program:
    """`path` is absolute and no link; `reads` are what a sandbox must show for it to run."""

    path: Path
    reads: tuple[Path, ...]

    @property
    def version(self) -> str:
        """By asking it, once a process; empty when it does not tell."""
        return _version(self.path)


def find(package: Package, binary: str | Path = "") -> Program:
    """The program of an agent; `binary` is the setting, empty when not set. `ConfigError` when there is none."""
    try:
        return _find(package, binary)
    except OSError as error:  # a directory that may not be entered, a name that is too long
        raise ConfigError(
            f"{error.filename or package.program}: {error.strerror or error}",
            f"see to that path, or name another program: substrates.{package.program}.binary",
        ) from error


def expanded(path: str | Path) -> Path:
    """Absolute, and `~` is the user's home; that of a user who does not exist stays as it is."""
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - the other way raises


def _find(package: Package, binary: str | Path) -> Program:
    if binary:
        return _given(package, Path(binary))
    for modules in set_up_places(package):
        native = native_in(package, modules)
        if native is not None:
            return _program(native)
    found = shutil.which(package.program)
    if found is None:
        raise ConfigError(
            f"{package.program} is neither set up nor on PATH",
            f"run `harness2 setup {package.program}`, or name your own: substrates.{package.program}.binary",
        )
    return _found(package, Path(found))


def problems(package: Package, binary: str | Path = "") -> tuple[str, ...]:
    """What keeps the agent from running, each with its remedy. A version other than the pinned one is none by itself:
    agents are released daily and rarely change what matters here, so it is only shown (`remark`)."""
    try:
        program = find(package, binary)
    except ConfigError as error:
        return (f"{error.what}: {error.remedy}",)
    version = program.version
    if not version:
        return (
            f"{program.path} does not tell its version within {VERSION_SECONDS} s, so it would not run either: "
            f"try it by hand, or run `harness2 setup {package.program}`",
        )
    if package.oldest and _order(version) < _order(package.oldest):
        return (
            f"{program.path} is {package.program} {version}, and versions before {package.oldest} do not understand "
            f"what Harness2 writes for them: run `harness2 setup {package.program}`",
        )
    return ()


def remark(package: Package, program: Program) -> str:
    """How the version differs from the one that is tested here; empty when it does not."""
    if program.version in ("", package.version):
        return ""
    return f"{package.program} {program.version}; tested with {package.version}"


def agents_directory() -> Path:
    """Where `harness2 setup` puts agents: `HARNESS2_AGENTS_DIR`, else below the user's data directory."""
    named = os.environ.get(DIRECTORY_VARIABLE, "")
    if named:
        return expanded(named)
    from platformdirs import user_data_path  # here: most processes have the program's path already

    return user_data_path("harness2") / "agents"


def set_up_places(package: Package, directory: Path | None = None) -> Iterator[Path]:
    """The `node_modules` of versions that were set up: the pinned one first, then the newest of the others."""
    home = (directory or agents_directory()) / package.program
    pinned = home / package.version
    yield pinned / _MODULES
    try:
        others = [path for path in home.iterdir() if _NUMBER.fullmatch(path.name) and path != pinned]
    except OSError:
        return
    for path in sorted(others, key=lambda path: _order(path.name), reverse=True):
        yield path / _MODULES


def native_in(package: Package, modules: Path) -> Path | None:
    """The native program of a package below `modules` that runs on this machine.

    Where there is a choice, one that does not start on this processor or C library gives way to the next.
    """
    kind, target = _machine()
    for pattern in package.natives:
        path = modules / pattern.format(platform=kind, target=target)
        if _is_program(path) and path.stat().st_size >= _STUB_BYTES and (len(package.natives) == 1 or _version(path)):
            return path.resolve()
    return None


def _given(package: Package, path: Path) -> Program:
    path = expanded(path)
    if not path.exists():
        raise ConfigError(
            f"substrates.{package.program}.binary is {path}, which does not exist",
            f"name the program, or leave it out after `harness2 setup {package.program}`",
        )
    if path.is_dir():
        native = next((found for modules in (path, path / _MODULES) if (found := native_in(package, modules))), None)
        if native is None:
            raise ConfigError(
                f"substrates.{package.program}.binary is {path}, a directory without {package.npm}",
                "name the program itself, or the directory in which npm installed it",
            )
        return _program(native)
    if not _is_program(path):
        raise ConfigError(
            f"substrates.{package.program}.binary is {path}, which may not be executed", f"run `chmod +x {path}`"
        )
    return _found(package, path)


def _found(package: Package, path: Path) -> Program:
    """A program, or the native one behind it when it is the script of the npm package."""
    real = path.resolve()
    for modules in _modules_around(real):
        native = native_in(package, modules)
        if native is not None:
            return _program(native)
    if _MODULES in real.parts:
        raise ConfigError(
            f"{path} is the script of {package.npm}, whose native program for this machine is missing",
            f"install it again without `--omit=optional`, or run `harness2 setup {package.program}`",
        )
    return _program(real)


def _modules_around(path: Path) -> Iterator[Path]:
    for parent in path.parents:
        if parent.name == _MODULES:
            yield parent
        elif parent.parent.name == _MODULES or parent.parent.parent.name == _MODULES:
            yield parent / _MODULES  # npm puts what a globally installed package needs below itself


def _program(path: Path) -> Program:
    real = path.resolve()
    owner = _package_directory(real)
    return Program(real, (owner or real,))


def _package_directory(path: Path) -> Path | None:
    """The npm package that a file belongs to: what it ships beside the program, such as its own `rg`, is needed too."""
    for parent in path.parents:
        if parent.name.startswith("@"):
            continue
        if parent.parent.name == _MODULES or (
            parent.parent.name.startswith("@") and parent.parent.parent.name == _MODULES
        ):
            return parent
    return None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _machine() -> tuple[str, str]:
    system = platform.system().lower()
    machine = {"amd64": "x64", "x86_64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    cpu = {"x64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    vendor = "apple-darwin" if system == "darwin" else "unknown-linux-musl"
    return f"{system}-{machine}", f"{cpu}-{vendor}"


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-")[0].split("+")[0])[:3])


_versions: Final[dict[tuple[Path, int, int], str]] = {}
_asking: Final = threading.Lock()


def _version(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    key = (path, found.st_mtime_ns, found.st_size)
    with _asking:  # eight workers of one process ask once
        if key not in _versions:
            _versions[key] = _told(path)
        return _versions[key]


def _told(path: Path) -> str:
    """In a home of its own: some write settings and caches as soon as they start."""
    with tempfile.TemporaryDirectory(prefix="harness2-version-") as home:
        names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR")
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home, **dict.fromkeys(names, home)}
        try:
            done = subprocess.run(
                [path, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_SECONDS,
                cwd=home,
                env=env,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    number = _NUMBER.search(done.stdout.decode("utf-8", "replace"))
    return number.group() if number and done.returncode == 0 else ""
