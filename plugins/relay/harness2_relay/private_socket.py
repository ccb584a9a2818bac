"""A directory that only we may enter, with a path short enough for a unix socket in it.

The path of a unix socket has room for about a hundred bytes on every system, and temporary directories can be long.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
from pathlib import Path
from typing import Final

from harness2_core.api import ConfigError

_NAME: Final = "s"
_PREFIX: Final = "h2-"


def listen(directory: str = "") -> tuple[socket.socket, Path]:
    """A listening socket and its path, in a new directory of mode 0700. `close` both."""
    for parent in (directory,) if directory else dict.fromkeys(("/tmp", tempfile.gettempdir(), "/var/tmp")):
        try:
            made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        except OSError:
            continue
        path = made / _NAME
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(str(path))
            path.chmod(0o600)
        except OSError:
            close(listening, path)
            continue
        return listening, path
    raise ConfigError(
        f"there is no place for the relay's unix socket{f' in {directory}' if directory else ''}",
        "set `socket_dir` under [access.relay] to a directory with a short path that you may write in",
    )


def close(listening: socket.socket, path: Path) -> None:
    listening.close()
    shutil.rmtree(path.parent, ignore_errors=True)
