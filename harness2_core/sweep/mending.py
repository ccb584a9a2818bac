"""Readable copies of what was finished before this run: those that are missing or different are rewritten.

A killed run may have left a record without its copies, and people delete and edit files. The store is the truth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

from attrs import frozen

from harness2_core.model.errors import StoreError
from harness2_core.model.records import ModeRecord, Summary

from . import readable
from .closing import adoption_of, copying, shelf_of, summary_of
from .course import Course
from .files import Unwritable, remove_drafts
from .study import Study
from .words import domain_word


@frozen
class Mended:
    """`files` had to be written; `statuses` are those of tasks that were finished before; `lost` says what can not."""

    files: int
    statuses: Mapping[str, str]
    lost: tuple[str, ...]


def mend(study: Study, course: Course) -> Mended:
    """Looks at all that was finished before. A library's entry that is missing follows from its mode's record."""
    mended, statuses = 0, {}
    adopted: list[tuple[str, str, str]] = []
    lost: list[str] = []
    for task in (*course.finished, *course.tasks):
        summary = summary_of(study, task)
        if task in course.finished:
            mended += readable.write_summary(study.runs, study.home, summary)
            statuses[task] = summary.status
        for mode, record in summary.modes.items():
            adoption = adoption_of(study, task, record)
            if adoption is not None:
                adopted.append((mode, summary.domain, task))
                if not study.archive.has_adoption(study.namespace(mode), task, record.attempt):
                    study.archive.keep(study.namespace(mode), task, adoption, record.attempt)
            with _what_is_lost(f"{mode} {task}", lost):
                mended += _mode(study, task, mode, record)
    for (mode, domain), entries in groupby(sorted(adopted), key=lambda item: item[:2]):
        with _what_is_lost(f"the {mode} library of {domain}", lost):
            mended += _shelf(study, mode, domain, [task for _, _, task in entries])
    return Mended(mended, statuses, tuple(lost))


def write_begun(study: Study, tasks: Collection[str]) -> None:
    """Summaries of tasks that did not end: what their finished modes came to can be read all the same."""
    for task in tasks:
        summary = summary_of(study, task)
        if _begun(summary):
            readable.write_summary(study.runs, study.home, summary)


def _begun(summary: Summary) -> bool:
    return bool(summary.bases or summary.modes)


@contextmanager
def _what_is_lost(of: str, lost: list[str]) -> Iterator[None]:
    """Copies of what the store has lost stay as they are, and stop nothing: nobody reads them back."""
    try:
        yield
    except Unwritable:
        raise
    except StoreError as error:
        lost.append(f"{of}: {error.what}")


def _mode(study: Study, task: str, mode: str, record: ModeRecord) -> int:
    namespace = study.namespace(mode)
    directory = readable.task_directory(study.runs, namespace, task)
    if readable.looks_whole(directory, record):
        return 0
    with copying(study, namespace, study.cards[task].domain):
        readable.remove_drafts_of_mode(directory)
        return readable.write_mode(study.archive, study.runs, namespace, task, record)


def _shelf(study: Study, mode: str, domain: str, tasks: Collection[str]) -> int:
    """An entry that a person had forgotten is missing by intent: what counts is the shelf, if anything seems amiss."""
    namespace = study.namespace(mode)
    directory = readable.library_directory(study.runs, namespace, domain)
    if readable.library_looks_whole(directory, tasks):
        return 0
    with copying(study, namespace, domain):
        remove_drafts(directory)
        shelf = shelf_of(study, namespace, domain)
        forgotten = set(tasks) - {entry.adoption.task for entry in shelf}
        mended = sum(readable.remove_entry(directory, task) for task in sorted(forgotten))
        mended += sum(readable.write_entry(study.archive, directory, entry) for entry in shelf)
        return mended + readable.write_index(directory, shelf, domain_word(study, sorted(tasks)[0]))
