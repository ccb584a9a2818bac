"""What a policy's bridges become: sockets shown inside, and a command that listens for them and becomes the program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import Bridge, ConfigError

from . import bridge

INSIDE: Final = "/run/model"
"""Where sockets and the bridge's program are seen."""


@frozen
class Bridged:
    """Options for bwrap, and what stands before the program's command. Both empty: no bridge."""

    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


def bridged(bridges: Sequence[Bridge]) -> Bridged:
    """Runs on the interpreter of this process, which every policy lets programs read. `ConfigError` without a socket.

    The sockets are shown one by one, not their directory.
    """
    if not bridges:
        return Bridged()
    options = ["--dir", INSIDE, "--ro-bind", str(Path(bridge.__file__).resolve()), f"{INSIDE}/bridge.py"]
    pairs = []
    for item in bridges:
        if not item.socket.is_socket():
            raise ConfigError(
                f"{item.socket}, which leads to the model, is no socket", "see that the access to models is open"
            )
        inside = f"{INSIDE}/{item.port}"
        options += ["--ro-bind", str(item.socket.absolute()), inside]
        pairs.append(f"{item.port}={inside}")
    return Bridged(tuple(options), (sys.executable, "-I", "-S", f"{INSIDE}/bridge.py", *pairs, "--"))
