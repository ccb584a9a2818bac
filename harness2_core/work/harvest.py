"""Harvest: the editable part of a session's workspace as bytes, and what acceptance makes of it.

Read without following anything. Links, devices and files beyond all reason are problems in words that the improver
can act on; what editors leave behind by habit is noted and not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.model.acceptance import Accepted, Check, Rejected, accept, is_dropping
from harness2_core.model.paths import unsafe
from harness2_core.model.surface import Surface
from harness2_core.model.tree import HarnessTree

from .keeping import shown
from .nofollow import chunks, open_regular, walk

EDITABLE: Final = "context/harness"
FILES: Final = 2_000
FILE_BYTES: Final = 4 << 20
TOTAL_BYTES: Final = 32 << 20
"""Far above every surface's caps: within them, acceptance says what is wrong, file by file."""
_NOTED: Final = 20


@frozen
class Harvest:
    """`problems` keep it from being accepted; `notes` do not."""

    files: Mapping[str, bytes]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def harvest(workspace: Path, below: str = EDITABLE) -> Harvest:
    """What lies in the editable directory now."""
    files: dict[str, bytes] = {}
    problems: list[str] = []
    droppings: list[str] = []
    total = left_out = 0
    if not (workspace / below).is_dir():
        problems.append(f"the directory {below}/ is gone; leave the whole harness in it")
    for found in walk(workspace, below):
        name = found.path.removeprefix(f"{below}/")
        if is_dropping(name):
            droppings.append(name)
        elif found.kind:
            problems.append(f"{shown(name)} is {found.kind}; a harness holds regular files only")
        elif unsafe(name):
            problems += unsafe(name)
        elif found.size > FILE_BYTES:
            problems.append(f"{shown(name)} has {found.size:,} bytes; a harness file has at most {FILE_BYTES:,}")
        elif len(files) >= FILES or total + found.size > TOTAL_BYTES:
            left_out += 1
        else:
            try:
                files[name] = b"".join(chunks(open_regular(workspace, found.path)))
            except OSError as error:
                problems.append(f"{shown(name)} could not be read: {error.strerror or error}")
                continue
            total += len(files[name])
    if left_out:
        problems.append(
            f"the harness has {left_out:,} files beyond the first {len(files):,} ({total:,} bytes); remove what it "
            "does not need"
        )
    return Harvest(files, tuple(problems), _noted(droppings))


def judged(surface: Surface, found: Harvest, checks: Sequence[Check]) -> Accepted | Rejected:
    """Acceptance of a harvest: its own problems come with those of the surface and the checks, all at once."""
    result = accept(surface, found.files, checks)
    notes = (*found.notes, *result.notes)
    problems = (*found.problems, *(result.problems if isinstance(result, Rejected) else ()))
    if problems:
        return Rejected(problems, notes)
    assert isinstance(result, Accepted)
    return Accepted(result.tree, notes)


def guarded(check: Callable[[HarnessTree], Sequence[str]], whose: str) -> Check:
    """A check that breaks refuses the tree, saying whose it is: the session is paid for, the tree is unproven."""

    def run(tree: HarnessTree) -> Sequence[str]:
        try:
            return tuple(check(tree))
        except Exception as error:
            return (f"the check of {whose} could not judge this tree: {type(error).__name__}: {error}",)

    return run


def _noted(droppings: Sequence[str]) -> tuple[str, ...]:
    notes = [f"ignored {shown(name)}: left behind by a tool" for name in droppings[:_NOTED]]
    if len(droppings) > _NOTED:
        notes.append(f"ignored {len(droppings) - _NOTED:,} more files left behind by tools")
    return tuple(notes)
