"""Readable copies beside the store: harnesses, what sessions saw, selection, reflection, summary, library.

The store is the truth. Copies are written from it when missing or different, and nothing ever reads them back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from harness2_core.method.library import Shelved, experience_md, index_md
from harness2_core.model.canonical import Digest
from harness2_core.model.names import file_name
from harness2_core.model.namespace import Namespace
from harness2_core.model.records import ModeRecord, Summary
from harness2_core.model.serial import plain
from harness2_core.model.tree import HarnessTree

from .archive import Archive
from .files import same_as, write_whole


def task_directory(runs: Path, namespace: Namespace, task: str) -> Path:
    return runs / "adapt" / str(namespace) / file_name(task)


def summary_path(runs: Path, home: Namespace, task: str) -> Path:
    return task_directory(runs, home, task) / "summary.json"


def pretty(value: object) -> bytes:
    """JSON for people: the record's own names, indented."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def write_summary(runs: Path, home: Namespace, summary: Summary) -> bool:
    """True when the file was missing or different."""
    path, data = summary_path(runs, home, summary.task), pretty(summary)
    if same_as(path, data):
        return False
    write_whole(path, data)
    return True


def write_mode(archive: Archive, runs: Path, namespace: Namespace, task: str, record: ModeRecord) -> None:
    """Trees, contexts, selection and reflection of one mode of one task."""
    directory = task_directory(runs, namespace, task)
    for stage in record.stages:
        write_tree(directory / "harnesses" / stage.label, archive.tree(stage.tree))
        _write(directory / "context" / f"{stage.label}.json", _context(archive, stage.sessions))
    if record.selection is not None:
        _write(directory / "selection" / "selection.json", pretty(record.selection))
    if record.reflection is not None:
        _write(directory / "reflection" / "reflection.json", pretty(record.reflection))


def write_tree(directory: Path, tree: HarnessTree) -> None:
    """The files of a tree, executable where they are scripts."""
    for path, text in tree.files.items():
        target = directory / path
        _write(target, text.encode())
        if text.startswith("#!"):
            target.chmod(0o755)


def write_entry(archive: Archive, directory: Path, shelved: Shelved) -> None:
    """One entry of the readable library of a mode and domain."""
    home = directory / "harnesses" / file_name(shelved.adoption.task)
    write_tree(home / "harness", archive.tree(shelved.adoption.tree))
    _write(home / "EXPERIENCE.md", experience_md(shelved.adoption, shelved.inventory).encode())


def write_index(directory: Path, shelf: Sequence[Shelved], domain_word: str) -> None:
    _write(directory / "INDEX.md", index_md(shelf, domain_word).encode())


def library_directory(runs: Path, namespace: Namespace, domain: str) -> Path:
    return runs / "library" / namespace.bench / namespace.library / namespace.mode / file_name(domain)


def _context(archive: Archive, sessions: tuple[Digest, ...]) -> bytes:
    shown = []
    for digest in sessions:
        request = json.loads(archive.text(digest))["session"]
        files = {path: item.digest for path, item in archive.flat(archive.manifest(request["evidence"])).items()}
        shown.append({"request": digest, "draw": request["draw"], "editable": request["editable"], "files": files})
    return json.dumps(shown, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def _write(path: Path, data: bytes) -> None:
    if not same_as(path, data):
        write_whole(path, data)
