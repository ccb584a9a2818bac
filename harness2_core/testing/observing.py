"""What a piece of Python does to its process and to the disk, seen from inside: for tests that nothing is left behind.

Writes are seen by an audit hook, which Python calls before each; programs that are started are not seen this way. Run
as a program it observes one call of `harness2` and writes what it saw to a file.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.truncate": ((0, 9),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "sqlite3.connect": ((0, 9),),
}
"""Audit event -> the arguments that are paths written to, each with the one that is its directory's descriptor."""
_SYSTEM: Final = ("/dev/", "/proc/", "/sys/")
_watching: list[Observed] = []
_hooked = False


@final
class Observed:
    """A context. Afterwards `writes` are the paths written to outside `allowed`, `changes` what is no longer as it was.

    Modules that are imported meanwhile leave no bytecode.
    """

    def __init__(self, allowed: Sequence[Path]) -> None:
        self._allowed = tuple(os.path.realpath(path) for path in allowed)
        self.writes: list[str] = []
        self.changes: list[str] = []

    def see(self, path: str) -> None:
        """A path that is about to be written to."""
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))  # noqa: PTH118, PTH119, PTH120
        inside = any(real == root or real.startswith(f"{root}/") for root in self._allowed)
        if not inside and not real.startswith(_SYSTEM) and real not in self.writes:
            self.writes.append(real)

    def __enter__(self) -> Self:
        global _hooked
        if not _hooked:
            sys.addaudithook(_audit)  # it cannot be taken back
            _hooked = True
        self._bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        self._before = _state()
        _watching.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _watching.remove(self)
        after = _state()
        sys.dont_write_bytecode = self._bytecode
        self.changes += [name for name in sorted({*self._before, *after}) if self._before.get(name) != after.get(name)]


def main() -> None:
    """`python -c ... ROOTS REPORT ARGUMENTS`: one call of `harness2`; `ROOTS` and what was seen are JSON."""
    from harness2_core.cli.main import run
    from harness2_core.cli.terminal import steady_streams

    roots, report, *arguments = sys.argv[1:]
    steady_streams()
    with Observed([Path(root) for root in json.loads(roots)]) as observed:
        code = run(arguments)
        sys.stdout.flush()
    Path(report).write_text(json.dumps({"writes": observed.writes, "changes": observed.changes}), encoding="utf-8")
    sys.exit(code)


def _state() -> dict[str, object]:
    """What a command borrows from its process; values of variables are compared and never told."""
    mask = os.umask(0)
    os.umask(mask)
    state: dict[str, object] = {
        "the current directory": os.getcwd(),  # noqa: PTH109
        "the global random generator": random.getstate(),
        "the umask": mask,
        "the search path of modules": tuple(sys.path),
    }
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        state[f"the handler of {number.name}"] = signal.getsignal(number)
    return state | {f"the variable {name}": value for name, value in os.environ.items()}


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _watching:
        return
    paths: list[tuple[object, object]] = []
    if event == "open":
        path, _, flags = args
        if isinstance(flags, int) and flags & _WRITES:
            paths.append((path, -1))
    else:
        paths += [(args[path], args[at] if at < len(args) else -1) for path, at in _PATHS.get(event, ())]
    for path, directory in paths:
        if isinstance(path, str | bytes | os.PathLike):
            text = os.fsdecode(path)
            if isinstance(directory, int) and directory >= 0 and not text.startswith("/"):
                text = f"/proc/self/fd/{directory}/{text}"
            for observed in tuple(_watching):
                observed.see(text)


if __name__ == "__main__":
    main()
