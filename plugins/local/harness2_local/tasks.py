"""The `tasks` adapter: a benchmark is a folder.

    <path>/<domain>/<task>/instruction.md     what the agent is told
                           inputs/            files it gets, at inputs/ in its workspace
                           task.toml          optional: expects, limit_seconds
                           checks/            optional, grader-side: never shown to agent, improver or selector
    <path>/base-<surface>/ or <path>/base/    optional: the unmodified harness; without it, the substrate's own
    <path>/bench.toml                         optional: words for missions, splits

Other files beside these are nobody's business and are left alone. Task ids are `<domain>/<task>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness2_core.api import (
    BenchSpec,
    BenchWords,
    ConfigError,
    FrozenMap,
    Harness2Error,
    HarnessTree,
    Rejected,
    Surface,
    Task,
    accept,
)

from .folders import files_below, folders_in, text_of
from .settings import TasksSettings
from .starter_files import starter_files
from .task_files import BenchFile, near, read_bench_file, read_task_file

INSTRUCTION: Final = "instruction.md"
INPUTS: Final = "inputs"
CHECKS: Final = "checks"
BASE: Final = "base"
BENCH_FILE: Final = "bench.toml"


class TaskFolders:
    """Reads the disk anew at each call: a changed task is a changed task."""

    def __init__(self, settings: TasksSettings) -> None:
        self._root = settings.path
        self._name = settings.name or _bench_name(settings.path)

    @property
    def spec(self) -> BenchSpec:
        bench = self._bench
        return BenchSpec(self._name, bench.words, network=bench.network)

    def tasks(self, split: str) -> Sequence[str]:
        ids = tuple(self._folders())
        if split == "all":
            return ids
        splits = self._bench.splits
        if split not in splits:
            raise ConfigError(f"{self._root}: no split named {split!r}", near(split, ("all", *splits)))
        for task in splits[split]:
            if task not in ids:
                raise ConfigError(f"{self._root / BENCH_FILE}: split {split!r}: no task {task!r}", near(task, ids))
        return tuple(sorted(set(splits[split])))

    def task(self, id: str) -> Task:
        folder = self._folder(id)
        prompt = text_of(folder / INSTRUCTION)
        if not prompt.strip():
            raise ConfigError(f"{folder / INSTRUCTION} is blank", "write what is asked for")
        facts = read_task_file(folder / "task.toml")
        return Task(id, id.split("/")[0], prompt, self._inputs(folder), facts.expects, facts.limit_seconds)

    def base_tree(self, surface: Surface) -> HarnessTree | None:
        folder = self._root / f"{BASE}-{surface.name}"
        if not folder.exists():
            folder = self._root / BASE
        if not folder.exists():
            return None
        taken = accept(surface, {path: file.read_bytes() for path, file in files_below(folder).items()})
        if isinstance(taken, Rejected):
            raise ConfigError(
                f"{folder} is no harness for the surface {surface.name!r}: {'; '.join(taken.problems)}",
                f"mend it, or put one for {surface.name!r} alone into {self._root / f'{BASE}-{surface.name}'}; "
                "without either folder the agent's own is used, where it brings one",
            )
        return taken.tree

    def grader_side(self, task: str) -> Mapping[str, Path]:
        folder = self._folder(task) / CHECKS
        return files_below(folder) if folder.exists() or folder.is_symlink() else FrozenMap()

    def words(self, task: str) -> BenchWords:
        bench = self._bench
        return bench.domains.get(task.split("/")[0], bench.words)

    @staticmethod
    def starter() -> Mapping[str, str]:
        return starter_files()

    def preflight(self) -> Sequence[str]:
        return tuple(self._problems())

    @property
    def _bench(self) -> BenchFile:
        return read_bench_file(self._root / BENCH_FILE)

    def _folders(self) -> Mapping[str, Path]:
        if not self._root.is_dir():
            raise ConfigError(f"no folder of tasks at {self._root}", "set `path` of the tasks adapter to one")
        found = {
            f"{domain.name}/{task.name}": task
            for domain in folders_in(self._root)
            if domain.name != BASE and not domain.name.startswith(f"{BASE}-")
            for task in folders_in(domain)
        }
        for folder in found.values():
            if not (folder / INSTRUCTION).exists():
                raise ConfigError(f"{folder} has no {INSTRUCTION}", "write one, or move the folder elsewhere")
        if not found:
            raise ConfigError(f"{self._root} holds no task", f"make <domain>/<task>/{INSTRUCTION} below it")
        return FrozenMap(found)

    def _folder(self, id: str) -> Path:
        direct = self._direct(id)  # without a look at all the others
        if direct is not None:
            return direct
        folders = self._folders()
        if id not in folders:
            raise ConfigError(f"{self._root}: no task {id!r}", near(id, tuple(folders)))
        return folders[id]

    def _direct(self, id: str) -> Path | None:
        """The folder of a task that is named as it lies there, else `None`: then the whole folder is looked through."""
        domain, _, task = id.partition("/")
        plain = all(part and not part.startswith(".") and "/" not in part for part in (domain, task))
        if not plain or domain == BASE or domain.startswith(f"{BASE}-"):
            return None
        folder = self._root / domain / task
        links = (self._root / domain).is_symlink() or folder.is_symlink()
        return folder if not links and (folder / INSTRUCTION).is_file() else None

    def _inputs(self, folder: Path) -> Mapping[str, Path]:
        inputs = folder / INPUTS
        if not inputs.exists() and not inputs.is_symlink():
            return FrozenMap()
        files = files_below(inputs)
        hidden = {_identity(path): path for path in self.grader_side(f"{folder.parent.name}/{folder.name}").values()}
        for path in files.values():
            if _identity(path) in hidden:
                raise ConfigError(
                    f"{path} is the same file as {hidden[_identity(path)]}, which only checks may read",
                    "put a copy into inputs/ if the agent is meant to have it",
                )
        return FrozenMap({f"{INPUTS}/{name}": path for name, path in files.items()})

    def _problems(self) -> Iterator[str]:
        try:
            self.spec  # noqa: B018 - reading it checks name, words and network
            ids = self.tasks("all")
            for split in self._bench.splits:
                self.tasks(split)
        except Harness2Error as error:
            yield str(error)
            return
        for id in ids:
            try:
                self.task(id)
                self.grader_side(id)
            except Harness2Error as error:
                yield str(error)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _bench_name(path: Path) -> str:
    """`My tasks-2` -> `my_tasks_2`."""
    name = re.sub(r"[^a-z0-9]+", "_", path.absolute().name.lower()).strip("_")
    return name if re.match(r"[a-z]", name) else f"tasks_{name}".rstrip("_")
