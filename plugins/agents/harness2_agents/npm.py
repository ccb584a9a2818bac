"""Sets up an agent with npm, in a directory of its own.

Two at once wait for each other; a call that was killed in the middle leaves nothing that the next one would take for an
installation; a second call does nothing. No install script of any package runs: what the scripts of these packages do,
`programs` does by looking.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness2_core.api import ConfigError

from .programs import DIRECTORY_VARIABLE, Package, Program, agents_directory, expanded, find, native_in

MINUTES: Final = 30
_MARK: Final = "harness2-setup.json"
_LAST_WORDS: Final = 6
_UNDERWAY: Final = ".part-"


def set_up(package: Package, to: Path | None = None, npm: str = "npm") -> Program:
    """Brings the pinned version of an agent, below `to` or where all agents are. `ConfigError` says what went wrong."""
    home = (expanded(to) if to else agents_directory()) / package.program
    target = home / package.version
    from filelock import FileLock  # here: substrates import this module for its name only

    try:
        done = _installed(package, target)
        if done is not None:
            return done
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / ".lock"):
            return _installed(package, target) or _install(package, home, target, npm)
    except OSError as error:
        raise ConfigError(f"{home}: {error.strerror or error}", _remedy(error.errno)) from error


def told(package: Package, program: Program, to: Path | None = None) -> str:
    """What to say to the person who asked for it."""
    line = f"{package.program} {program.version or package.version} is at {program.path}"
    if to is None:
        return line
    return (
        f"{line}\n"
        f"  to use it from there, set {DIRECTORY_VARIABLE}={shlex.quote(str(expanded(to)))}, or in harness2.toml:\n"
        f"  [substrates.{package.program}]\n  binary = {json.dumps(str(program.path), ensure_ascii=False)}"
    )


def _installed(package: Package, target: Path) -> Program | None:
    if not (target / _MARK).is_file():
        return None
    native = native_in(package, target / "node_modules")
    return None if native is None else find(package, native)


def _install(package: Package, home: Path, target: Path, npm: str) -> Program:
    """Under the lock: everything that is underway was left by somebody who died."""
    for path in home.glob(f"{_UNDERWAY}*"):
        shutil.rmtree(path, ignore_errors=True)
    _room(package, home)
    program = shutil.which(npm)
    if program is None:
        raise ConfigError(
            f"{package.program} comes by npm, and there is no npm on PATH",
            f"install Node.js, which brings it; or install {package.program} as its makers say and name it: "
            f"substrates.{package.program}.binary",
        )
    underway = Path(tempfile.mkdtemp(prefix=_UNDERWAY, dir=home))
    try:
        _run(program, package, underway)
        if native_in(package, underway / "node_modules") is None:
            raise ConfigError(
                f"npm installed {package.npm} {package.version}, but nothing in it runs on this machine",
                "see whether its makers support this system and processor",
            )
        mark = {"npm": package.npm, "version": package.version}
        (underway / _MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8")
        if target.exists():  # incomplete, or of an earlier way of installing: out of the way in one step
            target.rename(home / f"{_UNDERWAY}old-{os.getpid()}")
        underway.rename(target)
    finally:
        for path in home.glob(f"{_UNDERWAY}*"):
            shutil.rmtree(path, ignore_errors=True)
    done = _installed(package, target)
    if done is None:
        raise ConfigError(
            f"{target} was set up and does not tell its version any more", f"run harness2 setup {package.program} again"
        )
    return done


def _run(program: str, package: Package, prefix: Path) -> None:
    argv = [program, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(prefix)]
    with subprocess.Popen(
        [*argv, f"{package.npm}@{package.version}"],
        cwd=prefix,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=MINUTES * 60)
        except subprocess.TimeoutExpired:
            _end(process)
            raise ConfigError(
                f"npm did not install {package.npm} within {MINUTES} minutes", "see to the network, and try again"
            ) from None
        except BaseException:  # Ctrl-C and the like: nobody waits for it any more
            _end(process)
            raise
    if process.returncode:
        said = _last_words(output.decode("utf-8", "replace"))
        raise ConfigError(f"npm could not install {package.npm} {package.version}:\n{said}", _npm_remedy(said))


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):  # it had come to its end in this very moment
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _room(package: Package, home: Path) -> None:
    free = shutil.disk_usage(home).free // 2**20
    if free < package.megabytes:
        raise ConfigError(
            f"{home}: {package.program} takes up to {package.megabytes} MB while it is set up, and {free} MB are free",
            f"make room, or choose another disk: harness2 setup {package.program} --to DIR",
        )


def _last_words(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("npm error", "npm ERR!"))]
    kept = [line for line in errors or lines if "complete log of this run" not in line and "-debug-0.log" not in line]
    hidden = [re.sub(r"://[^/@\s]+@", "://[withheld]@", line) for line in kept[:_LAST_WORDS]]
    return "\n".join(f"    {line}" for line in hidden) or "    (it said nothing)"


def _npm_remedy(said: str) -> str:
    if "ENOSPC" in said:
        return _remedy(errno.ENOSPC)
    if re.search(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network|FETCH_ERROR", said):
        return "see to the network or the proxy; without one, copy the directory from a machine that has it"
    return "what npm says above is the reason; try the same with npm alone to see more"


def _remedy(number: int | None) -> str:
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "make room on that disk, or choose another with --to DIR"
    return "choose a directory that may be written, with --to DIR"
