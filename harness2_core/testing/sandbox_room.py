"""A place to try sandboxes in: a workspace, what is around it that nobody inside may reach, and a way to run probes.

Probes are small Python programs, run by the worker's own `process.run`, inside the sandbox or outside for comparison:
an escape that would not succeed outside proves nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import field, frozen

from harness2_core.api import Bridge, Exit, FrozenMap, Mount, Place, Policy, Sandbox
from harness2_core.work import process
from harness2_core.work.spawn import interpreter

CANARY: Final = "canary-5f1d"
"""What lies wherever nobody may look. No real secret."""

PLACE: Final = Place("/workspace", "/home/agent", "/workspace/output", "/tmp")


@frozen
class Room:
    """`root` is a fresh directory; see `make_room`."""

    sandbox: Sandbox
    root: Path
    env: FrozenMap[str] = field(factory=lambda: FrozenMap({"PATH": "/usr/bin:/bin", "HOME": PLACE.home}))

    @property
    def workspace(self) -> Path:
        return self.root / "runs" / "work" / "mine"

    @property
    def home(self) -> Path:
        return self.root / "runs" / "work" / "mine.aside" / "home"

    @property
    def inputs(self) -> Path:
        return self.root / "inputs"

    @property
    def secrets(self) -> Mapping[str, Path]:
        """Files around the workspace that hold the canary, by what they stand for."""
        return {
            "another workspace": self.root / "runs" / "work" / "other" / "notes.txt",
            "the store": self.root / "runs" / "store" / "blobs" / "5f1d",
            "the user's home": self.root / "user" / ".config" / "key",
        }

    def policy(self, network: str = "none", *bridges: Bridge, **more: Mount) -> Policy:
        mounts = {PLACE.workspace: Mount(self.workspace, True), PLACE.home: Mount(self.home, True)}
        mounts["/inputs"] = Mount(self.inputs)
        mounts |= {str(path): Mount(path) for path in interpreter()}
        return Policy(FrozenMap(mounts | more), network, bridges=bridges)

    def inside(
        self, code: str, *args: str, network: str = "none", stdin: bytes = b"", bridges: Sequence[Bridge] = ()
    ) -> Exit:
        """Runs a Python program in the sandbox."""
        return self.run(*python(code, *args), network=network, stdin=stdin, bridges=bridges)

    def run(
        self,
        *argv: str,
        network: str = "none",
        stdin: bytes = b"",
        bridges: Sequence[Bridge] = (),
        limit_seconds: float = 60,
        processes: int = 0,
        disk_mb: int = 0,
    ) -> Exit:
        """Limits are the worker's to keep, as in real work."""
        return process.run(
            tuple(self.sandbox.wrap(argv, self.policy(network, *bridges), PLACE)),
            cwd=self.workspace,
            env=self.env,
            stdin=stdin,
            limit_seconds=limit_seconds,
            out=self.root / "streams" / "inside",
            processes=processes,
            disk_mb=disk_mb,
            written=(self.workspace, self.home),
        )

    def outside(self, code: str, *args: str) -> Exit:
        """Runs the same program without a sandbox, in the workspace."""
        out = self.root / "streams" / "outside"
        return process.run(python(code, *args), cwd=self.workspace, env=self.env, limit_seconds=60, out=out)


def make_room(sandbox: Sandbox, root: Path) -> Room:
    """Lays out `root`: workspace, home, inputs to read, and the secrets around them."""
    room = Room(sandbox, root)
    for directory in (room.workspace, room.home, room.inputs):
        directory.mkdir(parents=True)
    (room.inputs / "given.txt").write_text("given\n")
    for path in room.secrets.values():
        path.parent.mkdir(parents=True)
        path.write_text(f"{CANARY}\n")
    return room


def said(exit: Exit) -> str:
    """Both streams, for what a program printed anywhere."""
    return exit.stdout.read_text(errors="replace") + exit.stderr.read_text(errors="replace")


def python(code: str, *args: str) -> tuple[str, ...]:
    """The command of a Python program."""
    return (sys.executable, "-I", "-S", "-c", code, *args)
