"""Runs a function of a module in another Python process, for tests about several processes and about being killed.

The child gets the function and its arguments by pickle on standard input, which then stays open: `until_released`
returns when the parent closes it or dies. What the function prints is read line by line.
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

_RUN: Final = "import pickle, sys; function, given = pickle.load(sys.stdin.buffer); function(*given)"


@final
class Child:
    """A context: the process is dead and waited for when it is left. `prefix` is a command that runs a command."""

    def __init__(self, function: Callable[..., None], *given: object, prefix: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [*prefix, sys.executable, "-c", _RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        pickle.dump((function, given), self._process.stdin)
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line that it prints; empty at the end."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().rstrip("\n")

    def release(self) -> None:
        """Ends its `until_released`."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.stdin = None

    def kill(self) -> None:
        """SIGKILL, and waits until it is gone."""
        self._process.kill()
        self._process.wait()

    def rest(self) -> tuple[str, ...]:
        """Releases it and gives the whole lines it printed that were not read yet; it must end well, or be dead."""
        killed = self._process.poll() is not None
        output, _ = self._process.communicate(timeout=300)
        assert killed or self._process.returncode == 0, f"the child ended with {self._process.returncode}"
        return tuple(output.decode().split("\n")[:-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def say(text: object) -> None:
    """In a child: prints a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def until_released() -> None:
    """In a child: waits until the parent lets go."""
    sys.stdin.buffer.read()


def small_disk(mount: Path, size: str) -> tuple[str, ...] | None:
    """A prefix under which `mount`, a directory, is a file system of that size; `None` where the system forbids it.

    The mount is private to the child and gone with it.
    """
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return None
    for unshare in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        prefix = (*unshare, "sh", "-c", f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"', str(mount))
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return None
