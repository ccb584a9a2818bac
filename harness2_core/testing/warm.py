"""The program `harness2`, run many times in forks of a process that has its modules imported: for tests that kill it.

Each run is a process of its own, as from a shell, without the half second that starting one takes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

_MODULES: Final = (
    "harness2_core.cli.main",
    "harness2_core.cli.run",
    "harness2_core.cli.live.watching",
    "harness2_core.sweep.checking",
    "harness2_core.sweep.run",
    "harness2_core.work.worker",
    "jinja2.sandbox",
)


@final
class Warm:
    """A context. Runs find the distributions in `site` beside what is installed; `output` takes what they print."""

    def __init__(self, output: Path, site: Path) -> None:
        self.output = output
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from harness2_core.testing.warm import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))},
        )

    def run(self, arguments: Sequence[str], *, kill_after: float = 0.0) -> int:
        """The exit code of `harness2 <arguments>`, negative for a signal; with `kill_after`, SIGKILL after so many
        seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"arguments": list(arguments), "kill_after": kill_after, "output": str(self.output)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def serve() -> None:
    """The process that forks: an order a line on standard input, an exit code a line on standard output."""
    for name in _MODULES:
        __import__(name)
    _look_around()
    for line in sys.stdin.buffer:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_run(order["arguments"], order["output"]))
        print(_ended(child, order["kill_after"]), flush=True)


def _look_around() -> None:
    """Has the command line and the installed plugins imported, as far as showing the settings of all takes."""
    from harness2_core.cli.main import run

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        run(["config"])


def _run(arguments: Sequence[str], output: str) -> int:
    from harness2_core.cli.main import run

    target = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    code = run(arguments)
    sys.stdout.flush()
    return code


def _ended(child: int, kill_after: float) -> int:
    until = time.monotonic() + kill_after
    while kill_after:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.0005)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
