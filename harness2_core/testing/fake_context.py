"""A context for tests of plugins without core's worker: it really runs programs, plainly, without a sandbox.

The environment is an allow list as in real work, streams are files, a time limit is kept. No supervisor: a program
that forks may leave something behind, so give it none that does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from harness2_core.api import (
    Channel,
    Digest,
    Endpoint,
    Exit,
    Harness2Error,
    Install,
    Place,
    PluginError,
    Resources,
    Substrate,
    digest_bytes,
)


class FakeContext:
    """`root` holds scratch, home and streams. Set `stop` to make `cancelled()` true."""

    def __init__(self, root: Path, substrates: Mapping[str, Substrate] | None = None, key: Digest = "") -> None:
        self._root = root
        self._substrates = dict(substrates or {})
        self._key = key or digest_bytes(b"a request of a test")
        self._spawned = 0
        self.stop = False
        self.scratch.mkdir(parents=True, exist_ok=True)

    @property
    def key(self) -> Digest:
        return self._key

    @property
    def scratch(self) -> Path:
        return self._root / "scratch"

    @property
    def spawned(self) -> int:
        """Programs run so far."""
        return self._spawned

    def place(self, cwd: Path) -> Place:
        return Place(str(cwd), str(self._root / "home"), str(cwd / "output"), str(self._root / "temp"))

    def spawn(self, install: Install, cwd: Path, limit_seconds: int) -> Exit:
        self._spawned += 1
        place = self.place(cwd)
        for folder in (place.home, place.temp):
            shutil.rmtree(folder, ignore_errors=True)
            Path(folder).mkdir(parents=True)
        _write(install.files, cwd)
        _write(install.home, Path(place.home))
        streams = self._root / f"streams{self._spawned}"
        streams.mkdir()
        environment = {
            "PATH": os.defpath,
            "HOME": place.home,
            "TMPDIR": place.temp,
            "LANG": "C.UTF-8",
            **install.env,
        }
        started = time.monotonic()
        with (streams / "stdout").open("wb") as stdout, (streams / "stderr").open("wb") as stderr:
            try:
                code = subprocess.run(
                    install.argv,
                    cwd=cwd,
                    env=environment,
                    input=install.stdin,
                    stdout=stdout,
                    stderr=stderr,
                    timeout=limit_seconds,
                ).returncode
                timed_out = False
            except subprocess.TimeoutExpired:
                code, timed_out = -9, True
        return Exit(
            code if code >= 0 else None,
            -code if code < 0 else None,
            timed_out,
            False,
            streams / "stdout",
            streams / "stderr",
            Resources(elapsed_ms=round((time.monotonic() - started) * 1000)),
        )

    def substrate(self, name: str) -> Substrate:
        if name not in self._substrates:
            raise PluginError(f"this test has no substrate {name!r}", "give it to FakeContext")
        return self._substrates[name]

    def endpoint(self, channel: Channel, *, own: bool = False) -> Endpoint:
        return Endpoint()

    def cancelled(self) -> bool:
        return self.stop


def _write(files: Mapping[str, bytes], root: Path) -> None:
    for path, data in files.items():
        target = root / path
        if target.is_symlink() or (target.exists() and target.is_dir()):
            raise Harness2Error(f"{path!r} cannot be installed", "install files at free paths")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o755 if data.startswith(b"#!") else 0o644)
