"""What is alike of every agent that npm brings: where it is, its version, how it is brought, what it begins with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from harness2_core.api import HarnessTree

from .npm import set_up, told
from .programs import Package, Program, find, problems


class NpmAgent:
    """To be subclassed by a substrate: implements `TellsVersion`, `Preflights` and `SetsUp` of the API."""

    def __init__(self, package: Package, binary: str) -> None:
        self._package = package
        self._binary = binary

    @property
    def tested_version(self) -> str:
        return self._package.version

    def version(self) -> str:
        version = self._program.version
        return f"{self._package.program} {version}" if version else ""

    def preflight(self) -> Sequence[str]:
        return problems(self._package, self._binary)

    def set_up(self, to: Path | None) -> str:
        """What to tell the person who asked for it."""
        return told(self._package, set_up(self._package, to), to)

    @cached_property
    def _program(self) -> Program:
        return find(self._package, self._binary)


def shipped_harness(package: str, paths: Iterable[str]) -> HarnessTree:
    """The files below `base/` of a Python package: few words, of no task, for benchmarks that bring none."""
    base = files(package).joinpath("base")
    return HarnessTree({path: base.joinpath(path).read_text(encoding="utf-8") for path in paths})
