"""A Python interpreter that runs harnesses and check programs: how it is called, and what it must be able to read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import ConfigError

_ASK: Final = """import json, sys
print(json.dumps([*sys.version_info[:3], sys.base_prefix, sys.base_exec_prefix, sys.prefix]))"""

_OWN: Final[str] = getattr(sys, "_base_executable", "") or sys.executable

ENVIRONMENT: Final = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
"""Programs behave alike each time, and leave no caches behind."""


@frozen
class Interpreter:
    """`python` is a path or a command; empty for the interpreter Harness2 was built from, outside any environment."""

    python: str = ""
    packages: bool = False

    @property
    def executable(self) -> str:
        """Absolute path. `ConfigError` when there is none."""
        if not self.python:
            return _OWN
        found = shutil.which(os.path.expanduser(self.python))  # noqa: PTH111 - `~nobody` is told below
        if found is None:
            raise ConfigError(
                f"no Python interpreter at {self.python!r}",
                "set `python` to one that exists, or leave it out to use the one Harness2 runs on",
            )
        return str(Path(found).absolute())  # not resolved: a virtual environment is known by its link

    def argv(self, script: str, *arguments: str) -> tuple[str, ...]:
        """The command that runs `script`; its own directory can be imported from, the user's site never."""
        flags = ("-s", "-B") if self.packages else ("-s", "-S", "-B")
        return (self.executable, *flags, "-X", "utf8", script, *arguments)

    @property
    def reads(self) -> tuple[Path, ...]:
        """Directories that hold the interpreter and what it imports."""
        _, base, base_exec, prefix = _facts(self.executable)
        wanted = [Path(path) for path in (base, base_exec, *([prefix] if self.packages else []))]
        parent = Path(self.executable).parent
        return tuple(dict.fromkeys([*wanted, *([] if any(map(parent.is_relative_to, wanted)) else [parent])]))

    @property
    def version(self) -> str:
        return f"python {_facts(self.executable)[0]}"

    def problems(self) -> tuple[str, ...]:
        """Why it cannot be used; empty when it can."""
        try:
            _facts(self.executable)
        except ConfigError as error:
            return (str(error),)
        return ()


@lru_cache
def _facts(executable: str) -> tuple[str, str, str, str]:
    """Version, base prefix, base exec prefix and prefix."""
    if executable == _OWN:
        return ".".join(map(str, sys.version_info[:3])), sys.base_prefix, sys.base_exec_prefix, sys.base_prefix
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _ASK], capture_output=True, timeout=30, check=True, stdin=subprocess.DEVNULL
        )
        major, minor, micro, base, base_exec, prefix = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ConfigError(
            f"{executable!r} does not run as a Python interpreter: {type(error).__name__}",
            "set `python` to a working interpreter, or leave it out to use the one Harness2 runs on",
        ) from error
    return f"{major}.{minor}.{micro}", base, base_exec, prefix
