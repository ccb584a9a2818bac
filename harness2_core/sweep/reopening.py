"""Which tasks are finished, and which a person has opened again, under which attempt's number.

An opening is written down before any of its work starts: killed, the same command goes on with that attempt instead of
opening one more, and so does a plain run.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from attrs import evolve

from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near
from harness2_core.model.records import ModeRecord, Opening
from harness2_core.work.wholeness import is_whole

from .budget import has_begun
from .study import Study

PARTIAL: Final = "partial"
DEAD: Final = "dead"


def is_finished(study: Study, task: str) -> bool:
    """Every mode asked for has come to its end as often as it was opened, or the task's bases came to nothing."""
    return not unfinished_modes(study, task)


def unfinished_modes(study: Study, task: str) -> tuple[str, ...]:
    """The modes of this study that the task still has to go through, in order."""
    archive, openings = study.archive, study.archive.openings(study.home, task)
    bases = archive.bases(study.home, task, max(openings, default=1))
    if bases is not None and not bases.usable:
        return ()
    opened = {mode: attempt for attempt, opening in sorted(openings.items()) for mode in opening.modes}
    return tuple(m for m in study.modes if archive.ended(study.namespace(m), task) < opened.get(m, 1))


def reopened(study: Study, retry: Collection[str], no_cache: bool) -> Study:
    """The study with the attempts that count now, after opening what `retry` (`partial`, `dead`, names) asks for.

    `no_cache` opens what is not finished too, and of all that is open nothing it has already is served. Raises
    `ConfigError` for a name that is no task of this run.
    """
    chosen = [task for tasks in study.chosen.values() for task in tasks]
    unknown = sorted(set(retry) - {PARTIAL, DEAD} - set(chosen))
    if unknown:
        raise ConfigError(
            f"--retry {unknown[0]}: neither 'partial' nor 'dead', nor a task of this run",
            f"{near(unknown[0], chosen)}give partial, dead, or a task's id",
        )
    attempts, served_from = {}, {}
    for task in chosen:
        _open(study, task, retry, no_cache)
        openings = study.archive.openings(study.home, task)
        attempts[task] = max(openings, default=1)
        served_from[task] = max((attempt for attempt, opening in openings.items() if opening.fresh), default=1)
    return evolve(
        study,
        attempts={task: attempt for task, attempt in attempts.items() if attempt > 1},
        served_from={task: attempt for task, attempt in served_from.items() if attempt > 1},
    )


def _open(study: Study, task: str, retry: Collection[str], no_cache: bool) -> None:
    """Opens the task once more where that is asked for, unless an opening of it is still to be finished."""
    if not retry and not no_cache:
        return
    openings, left = study.archive.openings(study.home, task), unfinished_modes(study, task)
    latest = max(openings, default=1)
    underway = bool(left) and latest in openings
    if no_cache and left:
        if underway and openings[latest].fresh:
            return
        # Of a task that nobody has begun, all is fresh under the first number.
        attempt = latest + 1 if has_begun(study.store, study.home, task) else latest
        study.archive.keep(study.home, task, Opening(left, fresh=True), attempt)
        return
    if underway or not _has_ended(study, task):
        return
    if task in retry or (PARTIAL in retry and _partial(study, task)) or (DEAD in retry and _dead(study, task)):
        study.archive.keep(study.home, task, Opening(tuple(study.modes), fresh=no_cache), latest + 1)


def _records(study: Study, task: str) -> tuple[ModeRecord, ...]:
    found = [study.archive.latest_mode(study.namespace(mode), task) for mode in study.modes]
    return tuple(record for record in found if record is not None)


def _has_ended(study: Study, task: str) -> bool:
    """Some mode of it has, or its bases came to nothing."""
    bases = study.archive.latest_bases(study.home, task)
    return bool(_records(study, task)) or (bases is not None and not bases.usable)


def _partial(study: Study, task: str) -> bool:
    bases = study.archive.latest_bases(study.home, task)
    failed = bases is not None and not bases.usable
    return failed or any(not record.ok for record in _records(study, task))


def _dead(study: Study, task: str) -> bool:
    """A rollout of the task was lost for good, or a session was; or the store has lost what it left."""
    bases = study.archive.latest_bases(study.home, task)
    records = _records(study, task)
    rolls = [*(bases.rolls if bases else ()), *(roll for record in records for roll in record.rolls)]
    sessions = [digest for record in records for digest in _sessions(record)]
    archive, store = study.archive, study.store
    return any(
        not is_whole(store, "rollout", roll.rollout) or not archive.rollout(roll.rollout).usable for roll in rolls
    ) or any(not is_whole(store, "session", digest) or archive.reply(digest).cause for digest in sessions)


def _sessions(record: ModeRecord) -> list[str]:
    found = [digest for stage in record.stages for digest in stage.sessions]
    for part in (record.selection, record.reflection):
        found += part.sessions if part is not None else ()
    return found
