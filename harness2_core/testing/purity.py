"""What a function that should be pure reaches for: files, programs, the network, variables, the global generator.

Python calls an audit hook before each; reading the clock or a variable is not seen this way.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

_FILES: Final = ("open", "os.listdir", "os.scandir", "sqlite3.connect")
_OTHERS: Final = (
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
)
_watching: list[list[str]] = []
_hooked = False


def reached_for(call: Callable[[], T], package: str) -> tuple[T, list[str]]:
    """The result of `call`, and what it reached for; files of `package`, core and Python are its own."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_audit)  # it cannot be taken back
        _hooked = True
    own = tuple(_own(package))
    seen: list[str] = []
    environment, dice = dict(os.environ), random.getstate()
    _watching.append(seen)
    try:
        result = call()
    finally:
        _watching.remove(seen)
    found = [item for item in dict.fromkeys(seen) if not item.startswith(own)]
    if dict(os.environ) != environment:
        found.append("the environment was changed")
    if random.getstate() != dice:
        found.append("the global random generator was used")
    return result, found


def _own(package: str) -> Iterable[str]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    for place in {sysconfig.get_path(name) for name in names} | {sys.prefix, sys.base_prefix, "/proc/self"}:
        yield f"open {place}"
    for name in (package.partition(".")[0], "harness2_core"):
        file = importlib.import_module(name).__file__
        if file is not None:
            yield f"open {Path(file).parent}"


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _watching:
        return
    if event in _FILES and isinstance(args[0], str | bytes | os.PathLike):
        path = os.path.abspath(os.fsdecode(args[0]))  # noqa: PTH100 - called for every file that is opened
        said = f"open {path}"
    elif event in _OTHERS:
        said = f"{event} {args[0]!r}" if args else event
    else:
        return
    for seen in tuple(_watching):
        seen.append(said)
