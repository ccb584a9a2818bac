"""Turning an `Install` into a run: files, environment, confinement, supervision.

The environment is an allow list: nothing of the parent's gets through. Home, configuration and temporary directory
are private and fresh. Files never replace what a task or an earlier program left under the same name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from harness2_core.api.runtime import Sandbox, TellsFailure
from harness2_core.model.errors import ConfigError, Lost
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.paths import collisions
from harness2_core.model.process import Bridge, Exit, Install, Mount, Place, Policy

from . import process
from .leftovers import end_left_over
from .materialise import write_files
from .nofollow import walk
from .site import Site, empty

_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
"""What a sandbox shows of the system anyway."""
_PRIVATE: Final = FrozenMap(
    {
        "XDG_CONFIG_HOME": ".config",
        "XDG_CACHE_HOME": ".cache",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
    }
)
"""Variable -> directory of the private home."""


@frozen
class Bounds:
    """What every program of a request is held to."""

    network: str = "open"
    memory_mb: int = 0
    processes: int = 0
    disk_mb: int = 0


@frozen
class Launch:
    """One program to run at a site. `env` is the endpoint's; `locked` and `open` are parts of the workspace."""

    install: Install
    cwd: Path
    limit_seconds: int
    out: Path
    """Directory for the streams; must not exist."""
    bounds: Bounds
    env: FrozenMap[str] = field(converter=texts, factory=FrozenMap, repr=False)
    locked: tuple[str, ...] = ()
    """Directories of the workspace that a sandbox shows read-only, such as evidence."""
    opened: tuple[str, ...] = ()
    """Directories inside those that stay writable."""
    ours: frozenset[str] = frozenset()
    """Files that an earlier program's install wrote below `cwd`: these are replaced."""
    bridges: tuple[Bridge, ...] = ()
    """What a sandbox that cuts the network leads to the model by."""


def spawn(launch: Launch, site: Site, sandbox: Sandbox | None, cancelled: Callable[[], bool]) -> Exit:
    """Runs it to its end. `ConfigError` for what cannot be installed or granted; `Lost` when it could not run."""
    install = launch.install
    place = site.place(launch.cwd, sandboxed=sandbox is not None)
    write_install(install.files, launch.cwd, launch.ours)
    empty(site.home)
    empty(site.temp)
    for directory in _PRIVATE.values():
        (site.home / directory).mkdir(parents=True)
    write_files(install.home, site.home)
    argv = tuple(install.argv)
    if sandbox is not None:
        argv = tuple(sandbox.wrap(argv, policy(launch, site, place), place))
    launch.out.mkdir(parents=True)
    try:
        ended = process.run(
            argv,
            cwd=launch.cwd,
            env=environment(place, launch.env, install.env),
            stdin=install.stdin,
            limit_seconds=launch.limit_seconds,
            out=launch.out,
            memory_mb=launch.bounds.memory_mb,
            processes=launch.bounds.processes,
            disk_mb=launch.bounds.disk_mb,
            written=(launch.cwd, site.home, site.temp),
            cancelled=cancelled,
        )
    except Lost:  # its supervisor may be dead, and then nobody has ended what it watched
        end_left_over(site.runs, site.key)
        raise
    failure = sandbox.failure(ended) if isinstance(sandbox, TellsFailure) else ""
    if failure:
        raise Lost("sandbox", failure)
    return ended


def environment(place: Place, endpoint: Mapping[str, str], install: Mapping[str, str]) -> Mapping[str, str]:
    """The whole environment of a program: fixed values, then the endpoint's, then the install's."""
    return {
        "PATH": os.pathsep.join(dict.fromkeys((str(Path(sys.executable).parent), *_PATH))),
        "HOME": place.home,
        "TMPDIR": place.temp,
        **{name: f"{place.home}/{directory}" for name, directory in _PRIVATE.items()},
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "NO_COLOR": "1",
        **endpoint,
        **install,
    }


def policy(launch: Launch, site: Site, place: Place) -> Policy:
    """What the sandbox grants: the workspace, private directories, and for reading what the install asks for."""
    mounts = {place.workspace: Mount(launch.cwd, True), place.home: Mount(site.home, True)}
    mounts[place.temp] = Mount(site.temp, True)
    for writable, parts in ((False, launch.locked), (True, launch.opened)):
        for part in parts:
            if (launch.cwd / part).is_dir():
                mounts[f"{place.workspace}/{part}"] = Mount(launch.cwd / part, writable)
    for path in (*interpreter(), *launch.install.reads):
        mounts.setdefault(str(path), Mount(_readable(path, site)))
    bounds = launch.bounds
    return Policy(
        FrozenMap(mounts),
        bounds.network,
        bounds.memory_mb,
        bounds.processes,
        launch.bridges,
        bounds.disk_mb,
        launch.limit_seconds,
    )


def interpreter() -> tuple[Path, ...]:
    """Where this Python lives, as far as it is not part of the system: programs of a harness run on it."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    found = dict.fromkeys(Path(prefix) for prefix in prefixes)
    for prefix in tuple(found):
        found[prefix.resolve()] = None
    return tuple(path for path in found if not any(path.is_relative_to(part) for part in _SYSTEM) and path != Path("/"))


def write_install(files: Mapping[str, bytes], root: Path, ours: frozenset[str] = frozenset()) -> None:
    """Writes an install's files below `root`; `ConfigError` names both files when one would take another's name."""
    there = {found.path for found in walk(root)}
    for path in there & ours & set(files):  # walked to, so no link lies on the way
        (root / path).unlink()
    there -= ours
    for path in files:
        if path in there:
            raise ConfigError(
                f"the harness file {path!r} would replace {path!r}, which the workspace holds already", _REMEDY
            )
    apart = {*collisions(there), *collisions(files)}
    for problem in collisions([*there, *files]):
        if problem not in apart:
            raise ConfigError(f"the harness does not fit into the workspace: {problem}", _REMEDY)
    write_files(files, root)


_REMEDY: Final = "rename the harness's file, or choose a substrate that installs elsewhere; inputs are never replaced"


def _readable(path: Path, site: Site) -> Path:
    """A host path the agent may read; never one that opens the runs directory, the store or another workspace."""
    if not path.is_absolute() or not path.exists():
        raise ConfigError(f"an agent is to read {str(path)!r}, which is no path of this machine", "mend the substrate")
    real = path.resolve()
    own = real.is_relative_to(site.aside) or real.is_relative_to(site.workspace)
    if not own and (real.is_relative_to(site.runs) or site.runs.is_relative_to(real)):
        raise ConfigError(
            f"an agent is to read {str(path)!r}, which opens the runs directory to it",
            "move the runs directory elsewhere, or narrow what the substrate reads",
        )
    return path
