"""Editing and composing from a playbook: pure steps over evidence, returning a tree and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

from .errors_seen import error_kinds
from .evidence import HARNESS, Evidence
from .playbook import Playbook, Remedy

_APPLIED: Final = re.compile(r"\bremedy `([a-z0-9\-]+)` applied\b")


@frozen
class Improved:
    """`files` are those that changed; `notes` one line each for what was done or left."""

    files: Mapping[str, str]
    notes: tuple[str, ...]


def edit(kind: str, playbook: Playbook, evidence: Evidence, index: int) -> Improved:
    """Applies the remedies of `kind` whose symptom shows. `index` counts candidates: it picks among a group."""
    hurtful = {name for label, names in tried(evidence).items() if worse(evidence, label, playbook) for name in names}
    notes = []
    chosen = []
    for remedy in _one_a_group(playbook.of_kind(kind), evidence, index):
        seen = evidence.seen(remedy)
        if seen is None:
            continue
        if remedy.name in hurtful:
            notes.append(f"remedy `{remedy.name}` left out: a candidate that had it showed an error that base lacks")
        else:
            chosen.append((remedy, f"{seen.path} says: {seen.line}"))
    files, applied = _applied(chosen, evidence)
    return Improved(files, (*applied, *notes))


def compose(playbook: Playbook, evidence: Evidence) -> Improved:
    """Merges what the candidates did, without those whose own rollout shows an error that base lacks."""
    candidates = tried(evidence)
    bad = {label: worse(evidence, label, playbook) for label in candidates}
    chosen, notes = [], []
    for remedy in playbook.remedies:
        had = [label for label, names in candidates.items() if remedy.name in names]
        good = [label for label in had if not bad[label]]
        if good:
            chosen.append((remedy, f"{', '.join(good)} ran with it and no new error ({len(good)} of {len(had)})"))
        elif had:
            notes.append(f"remedy `{remedy.name}` dropped: {', '.join(had)} showed {bad[had[0]]}")
    files, applied = _applied(chosen, evidence)
    return Improved(files, (*applied, *notes))


def tried(evidence: Evidence) -> Mapping[str, frozenset[str]]:
    """Label of a candidate in the pool -> names of the remedies that its decision notes say it applied."""
    return {
        label: frozenset(_APPLIED.findall(evidence.text(f"decisions/{label}.md")))
        for label in evidence.folders("pool/")
    }


def worse(evidence: Evidence, label: str, playbook: Playbook) -> str:
    """An error in the candidate's own rollout that base lacks and no remedy of it brings to light; else empty."""
    transcript = evidence.transcript(label)
    if not transcript.strip():
        return "no rollout at all"
    known = {kind for text in evidence.base_transcripts() for kind in error_kinds(text)}
    start = evidence.tree("base_harness/") or evidence.tree(HARNESS)
    for other in evidence.folders("pool/"):
        if other != label and evidence.tree(f"pool/{other}/{HARNESS}") == start:  # what is edited, as it ran
            known |= error_kinds(evidence.transcript(other))
    reveals = [remedy.reveals for remedy in playbook.named(tried(evidence)[label]) if remedy.reveals]
    new = (kind for kind in sorted(error_kinds(transcript) - known) if not any(r.search(kind) for r in reveals))
    return next(new, "")


def _one_a_group(remedies: Iterable[Remedy], evidence: Evidence, index: int) -> Iterable[Remedy]:
    """All that stand alone; of each group whose symptoms show, the `index`-th, beginning again after the last."""
    groups: dict[str, list[Remedy]] = {}
    for remedy in remedies:
        if evidence.seen(remedy):
            groups.setdefault(remedy.group or f"alone {remedy.name}", []).append(remedy)
    return [group[(index - 1) % len(group)] for group in groups.values()]


def _applied(chosen: Iterable[tuple[Remedy, str]], evidence: Evidence) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Whole files first, so that replacements work on what they bring."""
    tree = dict(evidence.tree(HARNESS))
    changed: dict[str, str] = {}
    notes = []
    for remedy, reason in sorted(chosen, key=lambda pair: bool(pair[0].old)):
        text = remedy.mended(tree, evidence.library_file(remedy))
        if text is None:
            continue  # it is there already, its place is gone, or the library has nothing of the kind
        tree[remedy.file] = changed[remedy.file] = text
        why = f": {remedy.why}" if remedy.why else ""
        notes.append(f"remedy `{remedy.name}` applied to {remedy.file}{why} | {reason}")
    return changed, tuple(notes)
