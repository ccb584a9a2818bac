"""Readable copies beside the store: harnesses, what sessions saw, selection, reflection, summary, library.

The store is the truth. Copies are written from it when missing or different, and nothing ever reads them back.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness2_core.method.library import Shelved, experience_md, index_md
from harness2_core.model.canonical import Digest, canonical
from harness2_core.model.errors import InvalidValue
from harness2_core.model.names import file_name
from harness2_core.model.namespace import Namespace
from harness2_core.model.records import ModeRecord, Summary
from harness2_core.model.serial import plain
from harness2_core.model.tree import HarnessTree

from .archive import Archive
from .files import remove_drafts, same_as, write_whole

EXPERIENCE: Final = "EXPERIENCE.md"
INDEX: Final = "INDEX.md"
_LAST: Final = "reflection/reflection.json"
"""What is written last of a mode's copies: with it, all are there."""
_SEALED: Final = ".sealed"
"""Touched when an entry of a library, or an index, is written: what is newer has been changed by somebody else."""


def task_directory(runs: Path, namespace: Namespace, task: str) -> Path:
    return runs / "adapt" / str(namespace) / file_name(task)


def summary_path(runs: Path, home: Namespace, task: str) -> Path:
    return task_directory(runs, home, task) / "summary.json"


def pretty(value: object) -> bytes:
    """JSON for people: the record's own names, indented."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def says(path: Path, value: object) -> bool:
    """Whether the file is there and says just this, whatever its blanks and the order of its keys.

    To read it takes a fifth of the time that it takes to set `value` as the file is set.
    """
    try:
        return canonical(json.loads(path.read_bytes())) == canonical(plain(value))
    except (OSError, ValueError, RecursionError, InvalidValue):
        return False


def write_summary(runs: Path, home: Namespace, summary: Summary) -> bool:
    """True when the file was missing or said something else."""
    path = summary_path(runs, home, summary.task)
    if says(path, summary):
        return False
    write_whole(path, pretty(summary))
    return True


def write_mode(archive: Archive, runs: Path, namespace: Namespace, task: str, record: ModeRecord) -> int:
    """Trees, contexts, selection and reflection of one mode of one task; how many files were missing or different."""
    directory = task_directory(runs, namespace, task)
    changed = 0
    for stage in record.stages:
        changed += write_tree(directory / "harnesses" / stage.label, archive.tree(stage.tree))
        changed += _write(directory / "context" / f"{stage.label}.json", _context(archive, stage.sessions))
    if record.selection is not None:
        changed += _write(directory / "selection" / "selection.json", pretty(record.selection))
    if record.reflection is not None:
        changed += _write(directory / _LAST, pretty(record.reflection))
        os.utime(directory / _LAST)  # not before any other file or directory: see `looks_whole`
    return changed


def remove_drafts_of_mode(directory: Path) -> None:
    """Half-written copies below a task's directory; those of harnesses go with what else is none of theirs."""
    for part in ("context", "selection", "reflection"):
        remove_drafts(directory / part)


def looks_whole(directory: Path, record: ModeRecord) -> bool:
    """Whether a task's directory holds its mode's copies, unchanged since the last of them was written.

    By names and times, so that looking at a thousand tasks takes a moment. What this doubts is compared in full, as is
    the one whose time the others are measured by.
    """
    if not same_as(directory / _LAST, pretty(record.reflection)):
        return False
    wanted = [f"{directory}/selection/selection.json"]
    for stage in record.stages:
        wanted += [f"{directory}/harnesses/{stage.label}", f"{directory}/context/{stage.label}.json"]
    try:
        written = (directory / _LAST).stat().st_mtime_ns
        parts = (f"{directory}/{part}" for part in ("harnesses", "context", "selection", "reflection"))
        return all(map(os.path.exists, wanted)) and not any(_newer(part, written) for part in parts)
    except OSError:
        return False


def write_tree(directory: Path, tree: HarnessTree) -> int:
    """The files of a tree, executable where they are scripts, and no others; how many had to change."""
    changed = 0
    for path, text in tree.files.items():
        target = directory / path
        changed += _write(target, text.encode())
        if text.startswith("#!"):
            target.chmod(0o755)
    return changed + _without_others(directory, "", tree.files)


def write_entry(archive: Archive, directory: Path, shelved: Shelved) -> int:
    """One entry of the readable library of a mode and domain; how many files were missing or different."""
    home = entry_directory(directory, shelved.adoption.task)
    remove_drafts(home)
    changed = write_tree(home / "harness", archive.tree(shelved.adoption.tree))
    changed += _write(home / EXPERIENCE, experience_md(shelved.adoption, shelved.inventory).encode())
    _seal(home)
    return changed


def write_index(directory: Path, shelf: Sequence[Shelved], domain_word: str) -> int:
    changed = _write(directory / INDEX, index_md(shelf, domain_word).encode())
    _seal(directory)
    return changed


def library_looks_whole(directory: Path, tasks: Collection[str]) -> bool:
    """Whether the index and the entries of `tasks` are as they were written, by names and times: see `looks_whole`."""
    homes = [entry_directory(directory, task) for task in tasks]
    try:
        return (directory / INDEX).stat().st_mtime_ns <= _sealed(directory) and not any(
            _newer(home, _sealed(home)) for home in homes
        )
    except OSError:
        return False


def unseal_library(directory: Path) -> None:
    """Before entries go: until the index is written, the next run compares the library with the store."""
    (directory / _SEALED).unlink(missing_ok=True)


def remove_entry(directory: Path, task: str) -> bool:
    """True when there was one. The index still names it."""
    home = entry_directory(directory, task)
    there = home.exists()
    shutil.rmtree(home, ignore_errors=True)
    return there


def entry_directory(library: Path, task: str) -> Path:
    return library / "harnesses" / file_name(task)


def library_directory(runs: Path, namespace: Namespace, domain: str) -> Path:
    return runs / "library" / namespace.bench / namespace.library / namespace.mode / file_name(domain)


def _context(archive: Archive, sessions: tuple[Digest, ...]) -> bytes:
    shown = []
    for digest in sessions:
        request = json.loads(archive.text(digest))["session"]
        files = {path: entry.digest for path, entry in archive.manifest(request["evidence"]).entries.items()}
        shown.append({"request": digest, "draw": request["draw"], "editable": request["editable"], "files": files})
    return json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def _without_others(directory: Path, below: str, files: Mapping[str, str]) -> int:
    """Removes what is none of `files`, such as those of an earlier attempt; how many files that were."""
    try:
        with os.scandir(directory) as found:
            entries = list(found)
    except FileNotFoundError:
        return 0
    removed = 0
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            removed += _without_others(path, f"{below}{entry.name}/", files)
            if not any(path.iterdir()):
                path.rmdir()
        elif f"{below}{entry.name}" not in files:
            path.unlink()
            removed += 1
    return removed


def _seal(directory: Path) -> None:
    mark = directory / _SEALED
    if not mark.exists():
        write_whole(mark, b"")
    os.utime(mark)  # not before the directory, which has just got a new name


def _sealed(directory: Path) -> int:
    return (directory / _SEALED).stat().st_mtime_ns


def _newer(path: str | Path, than: int) -> bool:
    """Whether `path`, or anything below it, was changed after the time `than` (nanoseconds)."""
    if Path(path).stat().st_mtime_ns > than:
        return True
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if _newer(entry.path, than):
                    return True
            elif entry.stat(follow_symlinks=False).st_mtime_ns > than:
                return True
    return False


def _write(path: Path, data: bytes) -> int:
    if same_as(path, data):
        return 0
    write_whole(path, data)
    return 1
