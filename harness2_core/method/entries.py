"""Which finals enter a ballot: those that delivered something, equal ones as one.

`Final` is a rollout that may be delivered. Reasons for leaving one out are words for people and for the record.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.records import EMPTY, Rollout
from harness2_core.model.tree import HarnessTree


@frozen
class Final:
    """A rollout that may be delivered, and the tree it ran."""

    label: str
    rollout: Rollout
    tree: HarnessTree


def delivered(final: Final) -> bool:
    """Whether it left a file that the task asks for."""
    return final.rollout.usable and final.rollout.delivered and bool(final.rollout.deliverables.entries)


def why_not(final: Final, texts: Mapping[Digest, str]) -> str:
    """Why it is not put on the ballot; empty when it is. `texts` holds the text views."""
    rollout = final.rollout
    if not rollout.usable:
        return "its rollout was lost" + (f" ({rollout.cause})" if rollout.cause else "")
    if not delivered(final):
        return "it did not deliver what the task asks for"
    if not rollout.views.entries:
        return "nothing could be shown of what it delivered"
    blank = all(not texts.get(e.digest, "something").strip() for e in rollout.views.entries.values() if e != EMPTY)
    return "what it delivered is blank" if blank else ""


def has_transcript(final: Final, texts: Mapping[Digest, str]) -> bool:
    """Whether its transcript may stand in for a missing deliverable."""
    transcript = final.rollout.transcript
    return final.rollout.usable and transcript != EMPTY and bool(texts.get(transcript.digest, "").strip())


def without_doubles(
    finals: Sequence[Final], base: HarnessTree, stand_ins: Mapping[str, str]
) -> tuple[list[Final], dict[str, str]]:
    """One final for each group of equal ones, in plan order, and for each other the label that stands for it.

    The one nearest to base stands: fewest changed lines, then plan order. `stand_ins` are transcripts by label; where
    given, they are what is compared.
    """
    groups: list[list[Final]] = []
    for final in finals:
        equal = [group for group in groups if any(_equal(final, other, stand_ins) for other in group)]
        groups = [group for group in groups if group not in equal]
        groups.append([*(other for group in equal for other in group), final])
    standing, same = [], {}
    place = {final.label: index for index, final in enumerate(finals)}
    for group in groups:
        nearest = min(group, key=lambda f: (_changed(base, f.tree) if len(group) > 1 else 0, place[f.label]))
        standing.append(nearest)
        same.update({other.label: nearest.label for other in group if other is not nearest})
    return sorted(standing, key=lambda final: place[final.label]), same


def _equal(one: Final, other: Final, stand_ins: Mapping[str, str]) -> bool:
    if stand_ins:
        return stand_ins[one.label] == stand_ins[other.label]
    here, there = one.rollout, other.rollout
    return (here.deliverables == there.deliverables or here.views == there.views) and here.missed == there.missed


def _changed(base: HarnessTree, tree: HarnessTree) -> int:
    """Lines that a diff from base adds or removes."""
    count = 0
    for path in {*base.files, *tree.files}:
        before, after = base.files.get(path, ""), tree.files.get(path, "")
        if before != after:
            hunks = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
            count += sum(line[0] in "+-" for line in hunks)
    return count
