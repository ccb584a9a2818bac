"""Libraries as people handle them: list, take out a copy, have an entry forgotten.

Forgetting hides an entry from later tasks and from the readable copies. Its records and harness stay in the store.
"""

from __future__ import annotations

from pathlib import Path

from harness2_core.method.library import Shelved, experience_md
from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near

from . import readable
from .closing import copying, shelf_of
from .study import Study
from .words import domain_word


def entries(study: Study) -> tuple[Shelved, ...]:
    """All entries of all modes and domains, in stream order."""
    return tuple(
        entry
        for mode in study.experiment.plans
        for domain in study.stream
        for entry in shelf_of(study, study.namespace(mode), domain)
    )


def entry_of(study: Study, task: str, mode: str) -> Shelved:
    """One entry; `mode` may be empty when only one mode adopted something of the task."""
    found = [entry for entry in entries(study) if entry.adoption.task == task and mode in ("", entry.adoption.mode)]
    if not found:
        known = sorted({entry.adoption.task for entry in entries(study)} - {task})
        raise ConfigError(
            f"no library holds an entry of {task!r}" + (f" in mode {mode!r}" if mode else ""),
            f"{near(task, known)}see `harness2 library list`",
        )
    if len(found) > 1:
        modes = ", ".join(entry.adoption.mode for entry in found)
        raise ConfigError(f"several modes have adopted something of {task!r}: {modes}", "say which, with --mode")
    return found[0]


def export(study: Study, entry: Shelved, directory: Path) -> None:
    """Writes the adopted harness and its experience into a new or empty directory."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(f"{directory} exists and is not empty", "name a directory that does not exist")
    readable.write_tree(directory / "harness", study.archive.tree(entry.adoption.tree))
    (directory / readable.EXPERIENCE).write_text(experience_md(entry.adoption, entry.inventory), encoding="utf-8")


def forget(study: Study, entry: Shelved) -> None:
    """Hides the entry from every later view."""
    adoption = entry.adoption
    namespace = study.namespace(adoption.mode)
    directory = readable.library_directory(study.runs, namespace, adoption.domain)
    with copying(study, namespace, adoption.domain):
        readable.unseal_library(directory)
        study.archive.forget(namespace, adoption.task)
        readable.remove_entry(directory, adoption.task)
        shelf = shelf_of(study, namespace, adoption.domain)
        readable.write_index(directory, shelf, domain_word(study, adoption.task))
