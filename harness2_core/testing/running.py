"""`harness2 ...` in a test, in this process or as one of its own, with an eye on what it leaves behind.

After each call it is asserted that nothing was written outside the isolated home, that no process is left, that no
variable, directory, signal handler or global random generator changed, and that no canary can be read anywhere in what
was written or printed. Of programs that the call starts, what they write is seen around the home: in the directory of
the test.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from attrs import frozen

from .family import Family
from .home import Harness2Home
from .observing import Observed

_PROGRAM: Final = "from harness2_core.testing.observing import main; main()"


@frozen
class Ran:
    """What a call came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        """What it printed, read as JSON."""
        return json.loads(self.out)


@final
class RunHarness2:
    """The fixture `run_harness2`: call it with the arguments that a person would type."""

    def __init__(self, home: Harness2Home) -> None:
        self.home = home

    def __call__(
        self,
        *arguments: str,
        process: bool = False,
        env: Mapping[str, str] | None = None,
        writes: Sequence[Path] = (),
        limit_seconds: float = 300,
    ) -> Ran:
        """One call, in `home.work`. `process`: in a process of its own, as from a shell, which takes half a second.

        `env` are more variables for this call; `writes` are places outside the home that it may write to. An
        `AssertionError` says what was left behind, or that it took longer than `limit_seconds` (of a process only).
        """
        allowed = (self.home.root, *writes)
        before = _around(self.home.root, allowed)
        with Family() as family:
            if process:
                ran, wrote, changed = self._apart(arguments, env or {}, allowed, limit_seconds)
            else:
                ran, wrote, changed = self._here(arguments, env or {}, allowed)
        wrote = sorted({*wrote, *(path for path, _ in _around(self.home.root, allowed) ^ before)})
        shown = f"harness2 {' '.join(arguments)}"
        assert not family.left, f"`{shown}` left processes behind: {'; '.join(family.left)}"
        assert not wrote, f"`{shown}` wrote outside its home: {', '.join(wrote)}"
        assert not changed, f"`{shown}` changed {', '.join(changed)}"
        told = self.home.tells(ran.out, ran.err)
        assert not told, f"`{shown}` wrote down a secret: {', '.join(told)}"
        return ran

    def _here(
        self, arguments: Sequence[str], env: Mapping[str, str], allowed: Sequence[Path]
    ) -> tuple[Ran, Sequence[str], Sequence[str]]:
        from harness2_core.cli.main import run  # typer, which other fixtures need not wait for

        with (
            _Streams(self.home.temp) as streams,
            _variables(env),
            contextlib.redirect_stdout(streams.out),
            contextlib.redirect_stderr(streams.err),
            Observed(allowed) as observed,
        ):
            code = run(arguments)
        return Ran(code, *streams.said), observed.writes, observed.changes

    def _apart(
        self, arguments: Sequence[str], env: Mapping[str, str], allowed: Sequence[Path], limit_seconds: float
    ) -> tuple[Ran, Sequence[str], Sequence[str]]:
        report = self.home.temp / "report-of-the-call"
        path = os.pathsep.join(item for item in sys.path if item)  # what this process can import, it can
        with _Streams(self.home.temp) as streams:
            code = subprocess.run(
                [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*map(str, allowed)]), str(report), *arguments],
                cwd=self.home.work,
                env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **env},
                stdin=subprocess.DEVNULL,
                stdout=streams.out,
                stderr=streams.err,
                timeout=limit_seconds,
                check=False,
            ).returncode
        ran = Ran(code, *streams.said)
        assert report.exists(), f"`harness2 {' '.join(arguments)}` ended in the middle ({ran.code}):\n{ran.err}"
        seen = json.loads(report.read_text(encoding="utf-8"))
        report.unlink()
        return ran, seen["writes"], seen["changes"]


@final
class _Streams:
    """Files that take what a call prints: a process that is left behind would hold the end of a pipe."""

    def __init__(self, folder: Path) -> None:
        self._files = [folder / f"{name}-of-the-call" for name in ("out", "err")]
        self.said: list[str] = []

    def __enter__(self) -> Self:
        self.out, self.err = (file.open("w", encoding="utf-8", errors="replace") for file in self._files)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream, file in zip((self.out, self.err), self._files, strict=True):
            stream.close()
            self.said.append(file.read_text(encoding="utf-8", errors="replace"))
            file.unlink()


def _around(root: Path, allowed: Sequence[Path]) -> set[tuple[str, int]]:
    """Files and directories beside `root` that nothing may be written to, each with its time of change."""
    found: set[tuple[str, int]] = set()
    apart = {str(path) for path in allowed}
    for folder, folders, names in os.walk(root.parent):
        folders[:] = [name for name in folders if f"{folder}/{name}" not in apart]
        for path in (f"{folder}/{name}" for name in (*folders, *names)):
            if path not in apart:
                with contextlib.suppress(FileNotFoundError):  # of somebody who is tidying up
                    found.add((path, os.lstat(path).st_ctime_ns))
    return found


@contextlib.contextmanager
def _variables(env: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
