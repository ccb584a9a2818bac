"""A directory that only we may enter, with a path short enough for a unix socket in it.

The path of a unix socket has room for about a hundred bytes on every system, and temporary directories can be long. The
directory is locked as long as its process lives, so that what a killed one left is known, and removed by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import ConfigError

_NAME: Final = "s"
_TRIES: Final = 3
"""Another process that sweeps may take a directory between its birth and its lock."""
_PREFIX: Final = "h2relay-"


@frozen
class PrivateSocket:
    """A listening socket, its path, and the lock on its directory."""

    listening: socket.socket
    path: Path
    lock: int

    def let_go(self) -> None:
        """Closes what is open; the directory stays. Twice is fine."""
        self.listening.close()
        with suppress(OSError):
            os.close(self.lock)

    def remove(self) -> None:
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.let_go()


def listen(directory: str = "") -> PrivateSocket:
    """In a new directory of mode 0700. `ConfigError` when there is no place for one."""
    places = (directory,) if directory else dict.fromkeys(("/tmp", tempfile.gettempdir(), "/var/tmp"))
    for parent in (place for place in places for _ in range(_TRIES)):
        with suppress(OSError):
            _sweep(Path(parent))
            return _made(Path(parent))
    raise ConfigError(
        f"there is no place for the relay's unix socket{f' in {directory}' if directory else ''}",
        "set `socket_dir` under [access.relay] to a directory with a short path that you may write in",
    )


def _made(parent: Path) -> PrivateSocket:
    made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _opened(made) as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            listening.bind(str(made / _NAME))  # fails too when a sweep took the directory between birth and lock
            (made / _NAME).chmod(0o600)
            return PrivateSocket(listening, made / _NAME, os.dup(opened))
    except OSError:
        listening.close()
        shutil.rmtree(made, ignore_errors=True)
        raise


def _sweep(parent: Path) -> None:
    """Removes the directories of ours that nobody holds."""
    for path in parent.glob(f"{_PREFIX}????????"):
        with suppress(OSError), _opened(path) as opened:
            if os.fstat(opened).st_uid == os.geteuid() and {item.name for item in path.iterdir()} <= {_NAME}:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)


@contextmanager
def _opened(directory: Path) -> Iterator[int]:
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield opened
    finally:
        os.close(opened)
