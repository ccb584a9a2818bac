"""Harness trees: the immutable files around a model, as text.

A tree travels between systems and frameworks, so paths are portable, NFC and free of collisions, and files are
UTF-8 text. A file that starts with `#!` is executable when it is written.
"""

from __future__ import annotations

import difflib
import re
from functools import cached_property

from attrs import field, frozen

from .canonical import Digest
from .check import Field
from .errors import InvalidValue
from .frozen import FrozenMap, texts
from .manifest import Manifest, blob_entry
from .paths import collisions, unportable


def tree_problems(files: FrozenMap[str]) -> tuple[str, ...]:
    """Everything that keeps `files` from being a harness tree, in words."""
    problems: list[str] = []
    for path, text in files.items():
        problems += unportable(path)
        try:
            text.encode()
        except UnicodeEncodeError:
            problems.append(f"{path!r} holds text that is not valid UTF-8")
        if "\x00" in text:
            problems.append(f"{path!r} holds a NUL character: a harness is text")
    problems += collisions(files)
    return tuple(problems)


def _checked(owner: object, field: Field, files: FrozenMap[str]) -> None:
    problems = tree_problems(files)
    if problems:
        raise InvalidValue("not a harness tree: " + "; ".join(problems), "rename or remove what is named")


@frozen
class HarnessTree:
    """Relative path -> text."""

    files: FrozenMap[str] = field(converter=texts, validator=_checked)

    def manifest(self) -> Manifest:
        """The tree as stored: its files' blobs."""
        return self._manifest

    @property
    def fingerprint(self) -> Digest:
        """The digest of the tree's manifest: the same on every system, whatever the order of files."""
        return self._manifest.digest

    @cached_property
    def _manifest(self) -> Manifest:
        return Manifest({path: blob_entry(text.encode()) for path, text in self.files.items()})


def diff(old: HarnessTree, new: HarnessTree, old_name: str = "base", new_name: str = "new") -> str:
    """Unified diffs of all files that differ, in path order; empty when the trees are equal."""
    parts: list[str] = []
    for path in sorted({*old.files, *new.files}):
        before, after = old.files.get(path, ""), new.files.get(path, "")
        if before == after and (path in old.files) == (path in new.files):
            continue
        names = (
            f"{old_name}/{path}" if path in old.files else "/dev/null",
            f"{new_name}/{path}" if path in new.files else "/dev/null",
        )
        lines = list(difflib.unified_diff(_lines(before), _lines(after), *names))
        lines = lines or [f"--- {names[0]}\n", f"+++ {names[1]}\n"]  # an empty file came or went
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines end with a line feed only: other ends stay visible as a difference."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
