"""Listing the files of a folder that others made: nothing is followed out of it, and nothing odd slips in.

A link is taken only when it names a file below the same folder. Devices, sockets and names that are no text are
errors that name the file. What version control and file managers leave behind is left out: an agent must not read a
solution from Git history.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from harness2_core.api import ConfigError, FrozenMap, collisions, unsafe

LEFT_OUT: Final = frozenset({".git", ".hg", ".svn", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"})


def files_below(root: Path) -> Mapping[str, Path]:
    """POSIX path below `root` -> the file itself, links resolved. `ConfigError` names the first that will not do."""
    if root.is_symlink():
        raise _refused(root, "is a link", "put the folder itself here")
    if not root.is_dir():
        raise _refused(root, "is not a folder", "make it one")
    found = dict(_walk(root, root, root.resolve()))
    clashes = collisions(found)
    if clashes:
        raise ConfigError(f"{root}: {clashes[0]}", "names must stay apart on every system")
    return FrozenMap(found)


def folders_in(root: Path) -> tuple[Path, ...]:
    """The folders directly in `root`, hidden ones left out, sorted by name."""
    found = []
    for entry in _scan(root):
        if entry.name.startswith(".") or entry.name in LEFT_OUT:
            continue
        path = Path(entry.path)
        if entry.is_symlink():
            if path.is_dir():
                raise _refused(path, "is a link to a folder", "put the folder itself there, or name it in `path`")
        elif entry.is_dir():
            _named(path, root)
            found.append(path)
    return tuple(found)


def text_of(path: Path) -> str:
    """The text of a file that must be one. `ConfigError` when it is a link, missing or not UTF-8."""
    if path.is_symlink():
        raise _refused(path, "is a link", "put the file itself here")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(path, f"is not UTF-8 text (byte {error.start})", "save it in UTF-8") from None
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}", "see that it exists and may be read") from None


def _walk(folder: Path, root: Path, real_root: Path) -> Iterator[tuple[str, Path]]:
    for entry in _scan(folder):
        if entry.name in LEFT_OUT:
            continue
        path = Path(entry.path)
        name = _named(path, root)
        if entry.is_symlink():
            yield name, _target(path, real_root)
        elif entry.is_dir():
            yield from _walk(path, root, real_root)
        elif entry.is_file():
            yield name, path
        else:
            raise _refused(path, f"is {_kind(path)}, not a file", "remove it")


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise _refused(folder, f"cannot be listed: {error.strerror}", "see that it exists and may be read") from None


def _named(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix()
    problems = unsafe(name)
    if problems or not name.isprintable():
        raise ConfigError(
            f"{os.fsencode(root).decode(errors='replace')}: the name {name!r} will not do"
            + (f": {problems[0]}" if problems else ": it has characters that cannot be seen"),
            "rename it",
        )
    return name


def _target(link: Path, real_root: Path) -> Path:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        raise _refused(link, "is a link that leads nowhere", "put the file itself here") from None
    inside = target.is_relative_to(real_root)
    if not inside or not target.is_file() or LEFT_OUT.intersection(target.relative_to(real_root).parts):
        raise _refused(link, "is a link to something that is no file of this folder", "put the file itself here")
    return target


def _kind(path: Path) -> str:
    mode = path.lstat().st_mode
    tests = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISBLK, "a device"))
    return next((word for test, word in tests if test(mode)), "a device")


def _refused(path: Path, what: str, remedy: str) -> ConfigError:
    return ConfigError(f"{os.fsencode(path).decode(errors='replace')!r} {what}", remedy)
