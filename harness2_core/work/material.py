"""The material step, in the driver: a task's prompt and inputs as a manifest in the store, before anything is paid.

From then on workers, evidence and ballots read the task there. What must not reach an agent is stopped here: links
and devices, version control data, and every file of the grader's side, whatever path or hard link leads to it.
"""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api.adapters import Adapter, HoldsGrader
from harness2_core.api.runtime import Store
from harness2_core.model.bench import Task, TaskCard
from harness2_core.model.canonical import Digest, Json, canonical, digest_bytes
from harness2_core.model.errors import ConfigError, InvalidValue
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.paths import unsafe

from .keeping import shown
from .nofollow import kind_of_mode, walk
from .trees import put_manifest, read_card

SIGHTED: Final = "sighted"
"""Kind of record: how a task's files looked -> the digest of its card. It only saves reading, and may be deleted."""
PROMPT: Final = "task.md"
INPUTS: Final = "source/"
LEAST_BYTES: Final = 32
"""Shorter files are equal by chance too often to tell that one is a copy; so does the guard on evidence."""
_LEFT_OUT: Final = frozenset((".git", ".hg", ".svn"))
"""Histories hold solutions."""


def material(store: Store, adapter: Adapter, task_id: str, bench: str, *, anew: bool = False) -> TaskCard:
    """Stores the task and returns its card, whose digest is the task's.

    Files whose size, time and identity are those of an earlier call are not read again, unless `anew`. `InvalidValue`
    names a file that is a link, a device, on the grader's side, or has a name that cannot travel.
    """
    task = adapter.task(task_id)
    kept = _Grader.of(adapter, task_id)
    inputs = dict(_inputs(task, kept))
    sighting = f"{bench}/{task_id}/{_sighted(task, inputs)}"
    known = store.get(SIGHTED, sighting)
    if known is not None and not anew and store.has_blob(known.decode()):
        return read_card(store, known.decode())
    card = _stored_card(store, bench, task, inputs)
    store.put(SIGHTED, sighting, card.digest.encode())
    return card


def _sighted(task: Task, inputs: Mapping[str, Path]) -> Digest:
    """What tells, without reading inputs, that a task is as it was."""
    files: dict[str, Json] = {}
    for path, local in inputs.items():
        seen = local.stat()
        files[path] = [seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino]
    prompt = digest_bytes(task.prompt.encode("utf-8", "surrogatepass"))
    return digest_bytes(canonical([prompt, task.domain, list(task.expects), task.limit_seconds, files]))


def _stored_card(store: Store, bench: str, task: Task, inputs: Mapping[str, Path]) -> TaskCard:
    manifest = Manifest({path: _stored(store, local) for path, local in inputs.items()})
    try:
        prompt = task.prompt.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(f"the prompt of task {task.id!r} is not valid text: {error}", "mend its encoding") from None
    entries = {PROMPT: Entry(store.put_blob(prompt), len(prompt))}
    if manifest.entries:
        put_manifest(store, manifest)
        entries[INPUTS] = manifest.entry()
    whole = Manifest(entries)
    card = TaskCard(bench, task.id, task.domain, put_manifest(store, whole), task.expects, task.limit_seconds)
    store.put_blob(card.encode())
    return card


def grader_manifest(store: Store, adapter: Adapter, task_id: str) -> Manifest:
    """Stores the grader-side files of a task, for judges. Empty when the benchmark holds none."""
    side = adapter.grader_side(task_id) if isinstance(adapter, HoldsGrader) else {}
    manifest = Manifest({path: _stored(store, local) for path, local in _expanded(side, f"grader of {task_id!r}")})
    put_manifest(store, manifest)
    return manifest


@frozen
class _Grader:
    """The grader's side of a task: resolved paths, the identity of every file (hard links), and files by size."""

    paths: tuple[Path, ...]
    files: frozenset[tuple[int, int]]
    sizes: Mapping[int, Sequence[Path]]

    @classmethod
    def of(cls, adapter: Adapter, task_id: str) -> _Grader:
        side = adapter.grader_side(task_id) if isinstance(adapter, HoldsGrader) else {}
        paths = tuple(path.resolve() for path in side.values())
        ids = set()
        sizes: dict[int, list[Path]] = {}
        for path in paths:
            for file in (path, *(path / found.path for found in walk(path))) if path.is_dir() else (path,):
                if file.is_file():
                    seen = file.stat()
                    ids.add((seen.st_dev, seen.st_ino))
                    sizes.setdefault(seen.st_size, []).append(file)
        return cls(paths, frozenset(ids), sizes)

    def holds(self, local: Path) -> bool:
        real, seen = local.resolve(), local.stat()
        return (seen.st_dev, seen.st_ino) in self.files or any(real.is_relative_to(path) for path in self.paths)

    def original_of(self, local: Path) -> Path | None:
        """The grader's file of which `local` is a copy; files are read only where sizes are equal."""
        size = local.stat().st_size
        same = self.sizes.get(size, ()) if size >= LEAST_BYTES else ()
        return next((path for path in same if filecmp.cmp(local, path, shallow=False)), None)


def _inputs(task: Task, grader: _Grader) -> Iterator[tuple[str, Path]]:
    for path, local in _expanded(task.files, f"task {task.id!r}"):
        if any(part.casefold() in _LEFT_OUT for part in path.split("/")):
            continue
        if grader.holds(local):
            raise InvalidValue(
                f"task {task.id!r}: the input {path!r} ({local}) is a grader-side file",
                "take it out of the task's inputs: no agent may see what it is judged by",
            )
        original = grader.original_of(local)
        if original is not None:
            raise InvalidValue(
                f"task {task.id!r}: the input {path!r} ({local}) is a copy of the grader-side file {original}",
                "take it out of one of the two: no agent may see what it is judged by, and judges are given the inputs",
            )
        yield path, local


def _expanded(files: Mapping[str, Path], whose: str) -> Iterator[tuple[str, Path]]:
    """Every regular file; a directory stands for all files below it. Anything else is an error that names it."""
    for path, local in files.items():
        _named(path, whose)
        try:
            mode = os.lstat(local).st_mode
        except OSError as error:
            raise ConfigError(
                f"{whose}: {local}: {error.strerror}", "see that the file is there and readable"
            ) from None
        if not stat.S_ISDIR(mode):
            _regular(kind_of_mode(mode), path, local, whose)
            yield path, local
            continue
        for found in walk(local):
            if any(part.casefold() in _LEFT_OUT for part in found.path.split("/")):
                continue
            _named(f"{path}/{found.path}", whose)
            _regular(found.kind, f"{path}/{found.path}", local / found.path, whose)
            yield f"{path}/{found.path}", local / found.path


def _named(path: str, whose: str) -> None:
    problems = unsafe(path)
    if problems:
        raise InvalidValue(f"{whose}: {'; '.join(problems)}", "rename the file")


def _regular(kind: str, path: str, local: Path, whose: str) -> None:
    if kind:
        raise InvalidValue(
            f"{whose}: the input {shown(path)} is {kind}",
            "put a regular file in its place: links and devices are never followed",
        )


def _stored(store: Store, local: Path) -> Entry:
    size = local.stat().st_size
    return Entry(store.put_blob(local), size)
