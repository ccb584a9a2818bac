"""What other selectors have picked among stored finals, as it is recorded beside the first picks.

A vote is on the finals of one attempt at a task: opened again, a task has finals on which nobody has voted. Where a
selector failed there may be several tries; the last one counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from harness2_core.model.namespace import Namespace
from harness2_core.model.records import SelectionRecord
from harness2_core.model.serial import dump, load

from .archive import Archive

KIND: Final = "reselection"


def tries(archive: Archive, namespace: Namespace, task: str, selector: str) -> tuple[SelectionRecord, ...]:
    """The votes of this selector on the latest finals of the task: none, one, or more where it failed."""
    place = _place(archive, namespace, task)
    found: list[SelectionRecord] = []
    while (data := archive.store.get(KIND, _key(place, selector, len(found) + 1))) is not None:
        found.append(load(data, SelectionRecord, f"{KIND} of {task}"))
    return tuple(found)


def second_pick(archive: Archive, namespace: Namespace, task: str, selector: str) -> SelectionRecord | None:
    """What this selector picked among the latest finals of the task, if it has voted on them at all."""
    found = tries(archive, namespace, task, selector)
    return found[-1] if found else None


def keep_vote(
    archive: Archive, namespace: Namespace, task: str, selector: str, ordinal: int, vote: SelectionRecord
) -> None:
    """Records a vote as the selector's try of this number, from 1; one that another process has recorded stays."""
    archive.store.put(KIND, _key(_place(archive, namespace, task), selector, ordinal), dump(vote))


def voters(archive: Archive, namespace: Namespace, tasks: Collection[str]) -> Iterator[tuple[str, str]]:
    """(selector, task) of every vote that was ever recorded on these tasks in this mode, on former finals too."""
    found = set()
    for key, _ in archive.store.scan(KIND):
        place, _, rest = key.partition("/")
        task, _, voter = rest.rpartition("/")
        if place.partition("@")[0] == str(namespace) and task in tasks:
            found.add((voter.partition("#")[0], task))
    yield from sorted(found)


def failed(vote: SelectionRecord) -> bool:
    """Whether a vote says nothing of its selector: it gave none, and what stands there is the first of the ballot."""
    return vote.fallback or not (vote.ok or vote.dropped)


def _place(archive: Archive, namespace: Namespace, task: str) -> str:
    """Of the finals that there are now: those of the latest attempt that came to its end."""
    attempt = archive.ended(namespace, task)
    return f"{namespace}@{attempt}/{task}" if attempt > 1 else f"{namespace}/{task}"


def _key(place: str, selector: str, ordinal: int) -> str:
    return f"{place}/{selector}#{ordinal}" if ordinal > 1 else f"{place}/{selector}"
