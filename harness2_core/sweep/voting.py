"""Another selector's picks beside the first ones, as rows of a report. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from harness2_core.model.records import SelectionRecord, Summary

from .judging import Row
from .reporting import Scores, mean
from .votes import failed


@frozen
class VoteRow:
    """Another selector's picks beside the first ones, over the tasks on which both have picked."""

    selector: str
    mode: str
    tasks: int
    """On which it has picked."""
    failed: int
    """On which it was asked and gave no usable answer: no picks of its own, and not compared."""
    same: int
    first: str | None
    second: str | None
    difference: str | None
    """Mean of second minus first, over the `n` tasks on which both picks are graded."""
    n: int


def vote_rows(
    votes: Mapping[tuple[str, str, str], SelectionRecord], summaries: Mapping[str, Summary], graded: Iterable[Row]
) -> tuple[VoteRow, ...]:
    """`votes` maps (selector, mode, task) to that selector's pick."""
    scores = Scores(graded)
    found = []
    for selector, mode in dict.fromkeys((selector, mode) for selector, mode, _ in votes):
        pairs, without = [], 0
        for (voter, its_mode, task), second in votes.items():
            record = summaries[task].modes.get(mode) if task in summaries else None
            if (voter, its_mode) != (selector, mode) or record is None or record.selection is None:
                continue
            if failed(second):
                without += 1
            else:
                pairs.append((task, record.selection.chosen, second.chosen))
        known = [
            (first, second)
            for task, *labels in pairs
            for first, second in [tuple(scores.of(task, mode, label) for label in labels)]
            if first is not None and second is not None
        ]
        found.append(
            VoteRow(
                selector,
                mode,
                len(pairs),
                without,
                sum(first == second for _, first, second in pairs),
                mean(first for first, _ in known),
                mean(second for _, second in known),
                mean(second - first for first, second in known),
                len(known),
            )
        )
    return tuple(found)
