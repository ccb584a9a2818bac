"""The directories of one request on this machine, and what the agent calls them.

The workspace is `<runs>/work/<request digest>`; home, temporary directory, scratch and streams lie beside it, out of
the workspace. Opening a site ends and removes whatever a killed attempt left there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.process import Place

from .leftovers import end_left_over

WORKSPACE: Final = "/workspace"
HOME: Final = "/home/agent"
TEMP: Final = "/tmp"
SCRATCH: Final = "/scratch"
OUTPUT: Final = "output"
"""Directory of the workspace in which deliverables are looked for."""


@frozen
class Site:
    """All paths are real: no component of `runs` is a link."""

    runs: Path
    workspace: Path
    aside: Path
    spelt: Path
    """The workspace as the runs directory was given, links and all: it may appear in what plugins print."""

    @property
    def key(self) -> Digest:
        """The request's digest."""
        return self.workspace.name

    @property
    def home(self) -> Path:
        return self.aside / "home"

    @property
    def temp(self) -> Path:
        return self.aside / "temp"

    @property
    def scratch(self) -> Path:
        return self.aside / "scratch"

    @property
    def streams(self) -> Path:
        return self.aside / "streams"

    def place(self, cwd: Path, *, sandboxed: bool) -> Place:
        """What a program started in `cwd` sees: constant paths in a sandbox, real ones without."""
        if sandboxed:
            return Place(WORKSPACE, HOME, f"{WORKSPACE}/{OUTPUT}", TEMP, sandboxed=True)
        return Place(str(cwd), str(self.home), str(cwd / OUTPUT), str(self.temp))

    def constants(self) -> Mapping[str, str]:
        """Real path -> constant one, for everything that is captured."""
        spelt_aside = self.spelt.with_name(self.aside.name)
        return {
            str(base / part): constant
            for base in (spelt_aside, self.aside)
            for part, constant in (("home", HOME), ("temp", TEMP), ("scratch", SCRATCH), ("streams", "/streams"))
        } | {str(self.spelt): WORKSPACE, str(self.workspace): WORKSPACE}


def open_site(runs: Path, key: Digest) -> Site:
    """Fresh directories for the request `key`. `OSError` when the disk refuses."""
    given = runs.absolute() / "work" / key
    given.parent.mkdir(parents=True, exist_ok=True)
    real = given.parent.resolve() / key
    site = Site(runs.resolve(), real, real.with_name(f"{key}.aside"), given)
    if site.aside.exists():
        end_left_over(site.runs, key)
    close_site(site)
    for directory in (site.workspace, site.home, site.temp, site.scratch, site.streams):
        directory.mkdir(parents=True, mode=0o700)
    return site


def close_site(site: Site) -> None:
    """Removes the site's directories; absent ones are fine."""
    remove(site.workspace)
    remove(site.aside)


def empty(directory: Path) -> None:
    """A new, empty directory in the place of what was there."""
    remove(directory)
    directory.mkdir(mode=0o700)


def remove(path: Path) -> None:
    """Removes `path`, whatever an agent made of it: links are not followed, bits that forbid it are lifted.

    Directories are moved up before they are emptied, so that no depth of nesting makes a path too long.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        path.unlink()
        return
    waiting, moved = [path], 0
    unguessed = os.urandom(8).hex()
    while waiting:
        directory = waiting.pop()
        directory.chmod(0o700)
        with os.scandir(directory) as entries:
            listed = list(entries)
        for entry in listed:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)  # noqa: PTH108  the name may be any bytes
                continue
            os.chmod(entry.path, 0o700)  # noqa: PTH101
            if directory == path:
                waiting.append(Path(entry.path))
                continue
            moved += 1
            target = path / f".{unguessed}-{moved}"
            os.rename(entry.path, target)  # noqa: PTH104
            waiting.append(target)
        if directory != path:
            directory.rmdir()
    path.rmdir()
