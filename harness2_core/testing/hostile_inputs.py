"""What people and agents leave in folders of inputs that an adapter must refuse or pass by: a table of makers.

Each puts one thing into the folder, of which `odd` is the name or a part of it. Some lead to a grader-side file.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

Maker: TypeAlias = Callable[[Path, Path], None]
"""Takes the folder of inputs, and a grader-side file on the same file system."""


def _link(target: str) -> Maker:
    return lambda inputs, grader: (inputs / "odd").symlink_to(target)


def _into_version_control(inputs: Path, grader: Path) -> None:
    (inputs / ".git").mkdir()
    (inputs / ".git" / "config").write_text("[core]\n")
    (inputs / "odd").symlink_to(".git/config")


def _socket(inputs: Path, grader: Path) -> None:
    here = Path.cwd()
    os.chdir(inputs)  # a socket's whole path may have a hundred characters only
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("odd")
    finally:
        os.chdir(here)


def _no_text(inputs: Path, grader: Path) -> None:
    Path(os.fsdecode(os.fsencode(inputs) + b"/odd\xff")).write_text("x")


def _alike(inputs: Path, grader: Path) -> None:
    for name in ("odd", "ODD"):
        (inputs / name).write_text("x\n")


HOSTILE_INPUTS: Final[Mapping[str, Maker]] = {
    "a link out": _link("/etc/hostname"),
    "a link to the grader's": lambda inputs, grader: (inputs / "odd").symlink_to(grader),
    "a link to the grader's folder": lambda inputs, grader: (inputs / "odd").symlink_to(grader.parent),
    "a hard link to the grader's": lambda inputs, grader: os.link(grader, inputs / "odd"),
    "a link into version control": _into_version_control,
    "a link to nothing": _link("absent"),
    "a link to itself": _link("odd"),
    "a link to its own folder": _link("."),
    "a pipe": lambda inputs, grader: os.mkfifo(inputs / "odd"),
    "a socket": _socket,
    "a name that is no text": _no_text,
    "a name with an escape": lambda inputs, grader: _write(inputs / "odd\x1b[2J"),
    "a name of two lines": lambda inputs, grader: _write(inputs / "odd\nname"),
    "two names that are one elsewhere": _alike,
}
"""What it is -> who makes it."""


def _write(path: Path) -> None:
    path.write_text("x\n")
