"""`Bubblewrap`: a command becomes a call of bwrap that grants exactly a policy.

What is not granted does not exist inside: mounts are added to an empty root, which is read-only in the end. Processes
inside see each other only, lose every capability, and end with bwrap; bwrap ends with its parent. Memory and process
limits of the policy are the supervisor's, who stays outside. With the network `model` a bridge stands inside: see
`bridge.py`.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from harness2_core.api import ConfigError, Exit, FrozenMap, Mount, Place, Policy

from .across import Bridged, bridged
from .bridge import SAID as BRIDGE_SAID
from .identity import with_identity
from .settings import Settings
from .system import system

_INSTALL: Final = "install it (Debian, Ubuntu: apt-get install bubblewrap), or run with --sandbox none"
_TRIAL_SECONDS: Final = 60
_SAID: Final = (b"bwrap: ", BRIDGE_SAID.encode())


class Bubblewrap:
    """The sandbox provider `bubblewrap`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()

    def works(self) -> str:
        """Tried for real, once per process."""
        if sys.platform != "linux":
            return "bubblewrap needs Linux; run with --sandbox none, or in a Linux virtual machine"
        binary = shutil.which(self._settings.binary)
        if binary is None:
            return f"there is no program {self._settings.binary!r}; {_INSTALL}"
        nothing = Policy(FrozenMap(), network="none")
        return _trial(tuple(self.wrap(("/bin/sh", "-c", ":"), nothing, Place("/", "/", "/"))))

    def wrap(self, argv: Sequence[str], policy: Policy, place: Place) -> Sequence[str]:
        """Raises `ConfigError` for a network it cannot grant and for mounts that are not there or lead elsewhere."""
        if not argv:
            raise ConfigError("there is no command to confine", "give at least the program's name")
        binary = shutil.which(self._settings.binary)
        if binary is None:
            raise ConfigError(f"there is no program {self._settings.binary!r}", _INSTALL)
        networked = _networked(policy.network)
        across = bridged(policy.bridges) if not networked else Bridged()
        # `reads` first: what the policy says of the same path counts.
        granted = {path: Mount(Path(path)) for path in self._settings.reads} | dict(policy.mounts)
        return (
            *with_identity([str(Path(binary).absolute()), *_apart(networked)], place.home, networked=networked),
            *system(networked=networked),
            *(("--dir", place.temp) if place.temp not in granted else ()),
            *(("--tmpfs", place.home) if place.home not in (*granted, "/") else ()),
            *(part for path in sorted(granted) for part in _mount(path, granted[path])),
            *across.options,
            *("--remount-ro", "/", "--chdir", place.workspace, "--"),
            *across.command,
            *argv,
        )

    def failure(self, exit: Exit) -> str:
        """Why the program did not come to run, when that is how it ended: bwrap's one line, else nothing."""
        if exit.code != 1 or exit.stdout.stat().st_size:
            return ""
        with exit.stderr.open("rb") as file:
            said = file.read(4096)
        is_ours = said.startswith(_SAID) and said.count(b"\n") <= 1
        return said.decode(errors="replace").strip() if is_ours else ""


def _apart(networked: bool) -> Iterator[str]:
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    if os.geteuid() != 0:
        yield "--unshare-user"
    if not networked:
        yield "--unshare-net"


def _networked(network: str) -> bool:
    if network in ("none", "model", "open"):
        return network == "open"
    raise ConfigError(
        f"bubblewrap cannot confine a program to the network {network!r}: it knows no host by name",
        'set network = "model" under [run] for the model alone, "open" for the whole network, or "none"',
    )


def _mount(path: str, mount: Mount) -> tuple[str, str, str]:
    inside = PurePosixPath(path)
    if not inside.is_absolute() or ".." in inside.parts or str(inside) != path or "\0" in path:
        raise ConfigError(f"{path!r} is no place for a mount", "give an absolute path in its normal form")
    if not mount.host.exists():
        raise ConfigError(f"{mount.host}, to be seen as {path}, does not exist", "mend the path, or make it first")
    # An earlier program may have put a link where its directory was. What is read may be a link: interpreters are.
    if mount.writable and mount.host.is_symlink():
        raise ConfigError(f"{mount.host}, to be written as {path}, is a link", "give the directory itself")
    return "--bind" if mount.writable else "--ro-bind", str(mount.host.absolute()), path


@functools.cache
def _trial(command: tuple[str, ...]) -> str:
    try:
        tried = subprocess.run(command, capture_output=True, timeout=_TRIAL_SECONDS, check=False, env={})
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    if tried.returncode == 0:
        return ""
    said = tried.stderr.decode(errors="replace").strip() or f"exit status {tried.returncode}"
    remedy = "run with --sandbox none, or mend what it says"
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        remedy = (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 and later "
            "kernel.apparmor_restrict_unprivileged_userns=0), or run with --sandbox none"
        )
    return f"bubblewrap does not work here: {said}; {remedy}"
