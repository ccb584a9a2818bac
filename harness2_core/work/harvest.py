"""Harvest: the editable part of a session's workspace as bytes, and what acceptance makes of it.

Read without following anything. Links, devices and files beyond all reason are problems in words that the improver
can act on; what editors leave behind by habit is noted and not read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.model.acceptance import Accepted, Check, Rejected, accept, is_dropping
from harness2_core.model.paths import unsafe
from harness2_core.model.surface import Surface
from harness2_core.model.tree import HarnessTree

from .keeping import shown
from .nofollow import Found, chunks, open_regular, walk

EDITABLE: Final = "context/harness"
FILES: Final = 2_000
FILE_BYTES: Final = 4 << 20
TOTAL_BYTES: Final = 32 << 20
"""Far above every surface's caps: within them, acceptance says what is wrong, file by file."""
_NOTED: Final = 20


@frozen
class Harvest:
    """`problems` keep it from being accepted; `notes` do not. `given` are the paths that were there before."""

    files: Mapping[str, bytes]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


def harvest(
    workspace: Path, below: str = EDITABLE, given: Collection[str] = (), surface: Surface | None = None
) -> Harvest:
    """What lies in the editable directory now; `given` are the paths of what was put there.

    Those, and what else lies on `surface`, come before the rest: a heap of other files costs no edit its place.
    """
    took = _Taken(workspace, below, given)
    if not (workspace / below).is_dir():
        took.problems.append(f"the directory {below}/ is gone; leave the whole harness in it")
    later: list[Found] = []
    for found in walk(workspace, below):
        name = took.name(found)
        edited = name in given or (surface is not None and surface.component(name) is not None)
        if edited or not took.is_candidate(found):
            took.take(found)
        elif len(later) < FILES:
            later.append(found)
        else:
            took.left_out += 1
    for found in later:
        took.take(found)
    return took.harvest()


class _Taken:
    """What was taken so far, and the words for what was not."""

    def __init__(self, workspace: Path, below: str, given: Collection[str]) -> None:
        self.problems: list[str] = []
        self.left_out = 0
        self._workspace = workspace
        self._below = below
        self._given = given
        self._files: dict[str, bytes] = {}
        self._total = 0
        self._droppings: list[str] = []

    def name(self, found: Found) -> str:
        return found.path.removeprefix(f"{self._below}/")

    def is_candidate(self, found: Found) -> bool:
        """Whether there is anything to take, if there is room for it."""
        name = self.name(found)
        return not (found.kind or is_dropping(name) or unsafe(name) or found.size > FILE_BYTES)

    def take(self, found: Found) -> None:
        name = self.name(found)
        if name not in self._given and is_dropping(name):
            self._droppings.append(name)
        elif found.kind:
            self.problems.append(f"{shown(name)} is {found.kind}; a harness holds regular files only")
        elif unsafe(name):
            self.problems += unsafe(name)
        elif found.size > FILE_BYTES:
            self.problems.append(
                f"{shown(name)} has {found.size:,} bytes and was not taken over: a harness file has at most "
                f"{FILE_BYTES:,}"
            )
        elif len(self._files) >= FILES or self._total + found.size > TOTAL_BYTES:
            self.left_out += 1
        else:
            try:
                self._files[name] = b"".join(chunks(open_regular(self._workspace, found.path)))
            except OSError as error:
                self.problems.append(f"{shown(name)} could not be read: {error.strerror or error}")
                return
            self._total += len(self._files[name])

    def harvest(self) -> Harvest:
        if self.left_out:
            self.problems.append(
                f"the harness has {self.left_out:,} files beyond the first {len(self._files):,} ({self._total:,} "
                "bytes), and they were not taken over: leave what it needs"
            )
        return Harvest(self._files, tuple(self.problems), _noted(self._droppings), frozenset(self._given))


def judged(surface: Surface, found: Harvest, checks: Sequence[Check]) -> Accepted | Rejected:
    """Acceptance of a harvest: its own problems come with those of the surface and the checks, all at once."""
    result = accept(surface, found.files, checks, found.given)
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
