"""The ballot: from a mode's finals to anonymous candidates, by what they delivered and nothing else.

Finals that delivered nothing, or only blanks, are dropped with the reason. Equal ones (the same files with the same
bytes, or the same views) are one candidate, standing for the final whose harness is nearest to base, then for the first
in plan order. Ids are given in an order shuffled by the draw. No label, run id, harness or judgement gets in. Where a
task's product may be a state of its environment and nobody delivered a file, transcripts stand in, with every line of
the harness, and every path that base has not, taken out of them.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, Iterator, Mapping
from string import ascii_uppercase
from typing import Final as Constant

from attrs import evolve, field, frozen

from harness2_core.model.bench import BenchSpec, BenchWords
from harness2_core.model.canonical import Digest
from harness2_core.model.frozen import FrozenMap, frozen_map, strings, texts
from harness2_core.model.manifest import Manifest
from harness2_core.model.records import Rollout
from harness2_core.model.strategy import Ballot
from harness2_core.model.templates import Templates
from harness2_core.model.trajectory import shortened
from harness2_core.model.tree import HarnessTree

from .cuts import Caps, is_image, too_many, too_much
from .entries import Final, has_transcript, why_not, without_doubles
from .evidence import lay_task
from .layout import Layout, left_out, shown
from .missions import words_of
from .runs import missed_lines

HARNESS_LINE_CHARS: Constant = 24
"""Shorter lines of a harness are not taken out of transcripts: they are common words, and say nothing of it."""


@frozen
class Contest:
    """All that a ballot is made from, but the texts of `needed`."""

    finals: tuple[Final, ...]
    """In plan order."""
    base: HarnessTree
    material: Manifest
    spec: BenchSpec
    words: BenchWords
    templates: Templates
    draw: str
    caps: Caps = field(factory=Caps)


def _blobs(items: Mapping[Digest, bytes]) -> FrozenMap[bytes]:
    return frozen_map(items)


@frozen
class Drawn:
    """What became of the finals. `ballot` is `None` when fewer than two candidates are left: nothing to ask."""

    ids: FrozenMap[str] = field(converter=texts)
    """Anonymous id -> the label it stands for."""
    order: tuple[str, ...] = field(converter=strings)
    """The ids in ballot order; where a selector fails, the first is taken."""
    dropped: FrozenMap[str] = field(converter=texts)
    """Label -> why it is not on the ballot."""
    same: FrozenMap[str] = field(converter=texts)
    """Label -> the label that stands for it, having delivered the same."""
    by_transcript: bool = False
    """Nobody delivered a file, and transcripts stand in."""
    ballot: Ballot | None = None
    new: FrozenMap[bytes] = field(converter=_blobs, factory=FrozenMap)


def needed(contest: Contest) -> Mapping[Digest, int]:
    """What `ballot` may ask the texts of, with their sizes in bytes: text views, and transcripts that may stand in.

    What is too big to be shown is not read.
    """
    finals, most = contest.finals, contest.caps.bytes_seen
    views = (item for final in finals for item in final.rollout.views.entries.items())
    texts = {entry.digest: entry.size for path, entry in views if not is_image(path) and entry.size <= most}
    if contest.spec.state_deliverable:
        texts |= {final.rollout.transcript.digest: final.rollout.transcript.size for final in finals}
    return dict(sorted(texts.items()))


def ballot(contest: Contest, texts: Mapping[Digest, str]) -> Drawn:
    """Draws the ballot. A view whose digest is not in `texts` counts as something other than text."""
    dropped = {final.label: why for final in contest.finals if (why := why_not(final, texts))}
    kept = [final for final in contest.finals if final.label not in dropped]
    stand_ins: dict[str, str] = {}
    if not kept and contest.spec.state_deliverable:
        kept = [final for final in contest.finals if has_transcript(final, texts)]
        each = contest.caps.bytes_seen // max(len(kept), 1)
        stand_ins = {final.label: shortened(_told(final, contest.base, texts), each) for final in kept}
        dropped = {label: why for label, why in dropped.items() if label not in stand_ins}
    standing, same = without_doubles(kept, contest.base, stand_ins)
    seed = int(hashlib.sha256(contest.draw.encode()).hexdigest()[:16], 16)
    random.Random(seed).shuffle(standing)
    candidates = dict(zip(_ids(), standing, strict=False))
    drawn = Drawn(
        ids={id: final.label for id, final in candidates.items()},
        order=tuple(candidates),
        dropped=dropped,
        same=same,
        by_transcript=bool(stand_ins),
    )
    if len(candidates) < 2:
        return drawn
    layout = Layout()
    lay_task(layout, contest.material, contest.caps)
    seen = (
        {id: _lay_transcript(layout, id, stand_ins[final.label]) for id, final in candidates.items()}
        if stand_ins
        else _lay_views(layout, candidates, texts, contest.caps)
    )
    bundle = layout.bundle()
    made = Ballot(seen, bundle.manifest, words_of(contest.words), seed, contest.templates)
    return evolve(drawn, ballot=made, new=bundle.new)


def _lay_transcript(layout: Layout, id: str, transcript: str) -> FrozenMap[str]:
    layout.text(f"candidates/{id}.md", _told_index(id, transcript))
    layout.text(f"candidates/{id}/transcript.md", transcript)
    return FrozenMap({"transcript.md": transcript})


def _lay_views(
    layout: Layout, candidates: Mapping[str, Final], texts: Mapping[Digest, str], caps: Caps
) -> dict[str, FrozenMap[str]]:
    sizes = {f"{id}/{path}": e.size for id, f in candidates.items() for path, e in f.rollout.views.entries.items()}
    plenty = evolve(caps, images=caps.files)  # a product may consist of images: all are needed to choose
    gone = too_much(sizes, caps.bytes_seen).union(
        f"{id}/{path}" for id, final in candidates.items() for path in too_many(final.rollout.views, plenty)
    )
    seen: dict[str, FrozenMap[str]] = {}
    for id, final in candidates.items():
        views = final.rollout.views.entries.items()
        kept = {path: entry for path, entry in views if f"{id}/{path}" not in gone}
        seen[id] = FrozenMap({path: texts[entry.digest] for path, entry in kept.items() if entry.digest in texts})
        layout.text(f"candidates/{id}.md", _index(id, final.rollout, seen[id], kept, caps))
        layout.mount(f"candidates/{id}", Manifest(kept))
    return seen


def _ids() -> Iterator[str]:
    """A, B, ... Z, AA, AB and so on."""
    yield from ascii_uppercase
    for first in _ids():
        yield from (first + last for last in ascii_uppercase)


def _index(id: str, rollout: Rollout, seen: Mapping[str, str], kept: Collection[str], caps: Caps) -> str:
    made = rollout.deliverables.entries
    lines = [f"# Candidate {id}", "", f"Files delivered: {len(made)}", ""]
    lines += [f"- {shown(path)}: {entry.size:,} bytes" for path, entry in list(made.items())[: caps.files]]
    if len(made) > caps.files:
        lines.append(left_out(f"{len(made) - caps.files:,} more names"))
    lines += [*missed_lines(rollout), "", f"Shown in `context/candidates/{id}/`, as text and images:", ""]
    for path, entry in list(rollout.views.entries.items())[: caps.files]:
        size = f"{len(seen[path]):,} characters" if path in seen else f"{entry.size:,} bytes"
        lines.append(f"- {shown(path)}: {size}" if path in kept else left_out(f"{shown(path)} ({size})"))
    if len(rollout.views.entries) > caps.files:
        lines.append(left_out(f"{len(rollout.views.entries) - caps.files:,} more views"))
    if len(kept) == len(rollout.views.entries) and not rollout.missed:
        lines += ["", "Nothing was trimmed. Judging it means opening the part that decides."]
    return "\n".join(lines) + "\n"


def _told_index(id: str, transcript: str) -> str:
    return (
        f"# Candidate {id}\n\nNo file was produced: the product is what was done. The record of it, without lines of "
        f"the agent's own set-up: `context/candidates/{id}/transcript.md`, {len(transcript):,} characters.\n"
    )


def _told(final: Final, base: HarnessTree, texts: Mapping[Digest, str]) -> str:
    """The transcript without the lines of the harness that made it, and without the paths that only it has."""
    lines = {line.strip() for body in final.tree.files.values() for line in body.splitlines()}
    gone = dict.fromkeys((line for line in lines if len(line) >= HARNESS_LINE_CHARS), left_out("a line of its set-up"))
    gone |= {
        path: left_out("a path of its set-up") for path in final.tree.files if "/" in path and path not in base.files
    }
    text = texts[final.rollout.transcript.digest]
    for said in sorted(gone, key=lambda said: (-len(said), said)):
        for form in dict.fromkeys((said, json.dumps(said)[1:-1], json.dumps(said, ensure_ascii=False)[1:-1])):
            text = text.replace(form, gone[said])
    return text
