"""Which tasks are finished, and which of them `--retry` opens again, under which attempt's number."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from harness2_core.model.errors import ConfigError
from harness2_core.model.records import ModeRecord
from harness2_core.plugins.discovery import near

from .study import Study

PARTIAL: Final = "partial"
DEAD: Final = "dead"


def is_finished(study: Study, task: str) -> bool:
    """Every mode asked for has a record of the present attempt, or the task's bases came to nothing."""
    return not unfinished_modes(study, task)


def unfinished_modes(study: Study, task: str) -> tuple[str, ...]:
    """The modes of this study that the task still has to go through, in order."""
    attempt = study.attempts.get(task)
    if attempt is None:
        bases = study.archive.latest_bases(study.home, task)
        if bases is not None and not bases.usable:
            return ()
        return tuple(mode for mode in study.modes if study.archive.latest_mode(study.namespace(mode), task) is None)
    return tuple(mode for mode in study.modes if study.archive.mode(study.namespace(mode), task, attempt) is None)


def attempts_for(study: Study, retry: Collection[str], no_cache: bool) -> dict[str, int]:
    """Task -> attempt's number, for the chosen tasks that are opened again or drawn without the cache."""
    chosen = [task for tasks in study.chosen.values() for task in tasks]
    unknown = sorted(set(retry) - {PARTIAL, DEAD} - set(chosen))
    if unknown:
        raise ConfigError(
            f"--retry {unknown[0]}: neither 'partial' nor 'dead', nor a task of this run",
            f"{near(unknown[0], chosen)}give partial, dead, or a task's id",
        )
    found = {}
    for task in chosen:
        latest = _latest(study, task)
        reopened = (
            task in retry or (PARTIAL in retry and _partial(study, task)) or (DEAD in retry and _dead(study, task))
        )
        if (reopened and latest) or (no_cache and not is_finished(study, task)):
            found[task] = latest + 1
    return found


def _latest(study: Study, task: str) -> int:
    """The highest attempt that left a record of its end; 0 when there is none."""
    modes = [record.attempt for record in _records(study, task)]
    bases = 0
    while study.archive.bases(study.home, task, bases + 1) is not None:
        bases += 1
    failed = study.archive.bases(study.home, task, bases) if bases else None
    return max([*modes, bases if failed is not None and not failed.usable else 0])


def _records(study: Study, task: str) -> tuple[ModeRecord, ...]:
    found = [study.archive.latest_mode(study.namespace(mode), task) for mode in study.modes]
    return tuple(record for record in found if record is not None)


def _partial(study: Study, task: str) -> bool:
    bases = study.archive.latest_bases(study.home, task)
    failed = bases is not None and not bases.usable
    return failed or any(not record.ok for record in _records(study, task))


def _dead(study: Study, task: str) -> bool:
    """A rollout of the task was lost for good, or a session was and the stage fell back."""
    bases = study.archive.latest_bases(study.home, task)
    rolls = [*(bases.rolls if bases else ()), *(roll for record in _records(study, task) for roll in record.rolls)]
    sessions = [
        digest
        for record in _records(study, task)
        for stage in record.stages
        if stage.fell_back
        for digest in stage.sessions
    ]
    return any(not study.archive.rollout(roll.rollout).usable for roll in rolls) or any(
        study.archive.reply(digest).cause for digest in sessions
    )
