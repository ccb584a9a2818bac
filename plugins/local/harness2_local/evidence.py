"""What a session may read: the files below `context/`, listed once, links left alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from attrs import frozen

from .playbook import Remedy

HARNESS: Final = "harness/"


@frozen
class Seen:
    """A symptom found: the file, and the line that shows it."""

    path: str
    line: str


class Evidence:
    def __init__(self, context: Path) -> None:
        self._files = FrozenListing(context)

    def text(self, path: str) -> str:
        """The file's text, empty when there is none."""
        return self._files.text(path)

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Paths that fit a shell-style pattern in which `*` crosses no `/`, but `**` does; sorted."""
        return tuple(path for path in self._files.paths if _fits(path, pattern))

    def seen(self, remedy: Remedy) -> Seen | None:
        """Where the symptom shows first."""
        for pattern in remedy.where:
            for path in self.matching(pattern):
                found = self._found(remedy.symptom, path)
                if found:
                    return Seen(path, found)
        return None

    def transcript(self, label: str) -> str:
        """What the candidate's own rollout said; empty when it has none."""
        return self.text(f"pool/{label}/rollout.md") or self.text(f"rollouts/{label}.md")

    def base_transcripts(self) -> tuple[str, ...]:
        """Of the rollouts that are no candidate's."""
        own = {f"rollouts/{label}.md" for label in self.folders("pool/")}
        return tuple(self.text(path) for path in self.matching("rollouts/*.md") if path not in own)

    def tree(self, folder: str) -> Mapping[str, str]:
        """The files below `folder`, which ends in `/`."""
        return {path.removeprefix(folder): self.text(path) for path in self._files.paths if path.startswith(folder)}

    def folders(self, folder: str) -> tuple[str, ...]:
        """Names directly below `folder` that are folders, sorted."""
        below = (path.removeprefix(folder) for path in self._files.paths if path.startswith(folder))
        return tuple(sorted({path.split("/")[0] for path in below if "/" in path}))

    def library_file(self, remedy: Remedy) -> str | None:
        """`remedy.file` of an earlier adopted harness whose lesson has what the remedy asks for; the last such."""
        if remedy.from_library is None:
            return None
        for task in reversed(self.folders("library/harnesses/")):
            root = f"library/harnesses/{task}/"
            if remedy.from_library.search(self.text(f"{root}EXPERIENCE.md")):
                found = self.text(f"{root}{HARNESS}{remedy.file}")
                if found:
                    return found
        return None

    def _found(self, symptom: re.Pattern[str], path: str) -> str:
        text = self.text(path)
        match = symptom.search(text)
        if not match:
            return ""
        start = text.rfind("\n", 0, match.start()) + 1
        return text[start : text.find("\n", match.end()) if "\n" in text[match.end() :] else len(text)].strip()


class FrozenListing:
    """Regular files below a folder, by POSIX path. Bytes that are no text become replacement characters."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, str] = {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._walk()))

    def text(self, path: str) -> str:
        if path not in self._known:
            return ""
        if path not in self._texts:
            self._texts[path] = (self._root / path).read_bytes().decode("utf-8", errors="replace")
        return self._texts[path]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    def _walk(self) -> Iterator[str]:
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self._root).as_posix()


def _fits(path: str, pattern: str) -> bool:
    if "**" in pattern:
        return fnmatchcase(path, pattern.replace("**", "*"))
    return len(PurePosixPath(path).parts) == len(PurePosixPath(pattern).parts) and fnmatchcase(path, pattern)
