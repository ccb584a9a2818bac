"""The round of one mode on one task, for a reflector: every rollout, every harness, every note, and what was adopted.

Laid out as a stage's evidence, with `base_harness/`, `harness/` (the adopted one, to read), `pool/<label>/` with each
stage's harness and its diff from base, and `adoption.json`, which decodes the ids that the selector saw.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from harness2_core.model.bench import BenchSpec, BenchWords, TaskCard
from harness2_core.model.canonical import Digest
from harness2_core.model.frozen import FrozenMap, frozen_map, strings, texts
from harness2_core.model.manifest import Manifest
from harness2_core.model.records import Rollout
from harness2_core.model.strategy import Choice, Round
from harness2_core.model.templates import Templates
from harness2_core.model.tree import HarnessTree

from .cuts import Caps
from .evidence import diff_text, labelled, lay_decisions, lay_task, run_lines, task_lines
from .layout import Bundle, Layout
from .missions import words_of
from .runs import Shown, lay_runs


def _rollouts(items: Mapping[str, Rollout]) -> FrozenMap[Rollout]:
    return frozen_map(items)


def _trees(items: Mapping[str, HarnessTree]) -> FrozenMap[HarnessTree]:
    return frozen_map(items)


@frozen
class Finished:
    """A mode's work on a task after selection."""

    card: TaskCard
    material: Manifest
    spec: BenchSpec
    base: HarnessTree
    stages: tuple[str, ...] = field(converter=strings)
    """Stage labels in plan order."""
    trees: FrozenMap[HarnessTree] = field(converter=_trees)
    """Stage label -> the tree its roll ran."""
    rolls: tuple[str, ...] = field(converter=strings)
    """Labels of bases and rolls, in plan order."""
    rollouts: FrozenMap[Rollout] = field(converter=_rollouts)
    decisions: FrozenMap[str] = field(converter=texts)
    """Stage label -> its notes, or why there are none."""
    choice: Choice
    adopted: str
    """The label of the adopted final."""
    ids: FrozenMap[str] = field(converter=texts)
    """Anonymous id -> label."""
    caps: Caps = field(factory=Caps)


def round_of(done: Finished, words: BenchWords, templates: Templates) -> tuple[Round, FrozenMap[bytes]]:
    """The round, and the blobs that its evidence may add to the store."""
    evidence = _evidence(done)
    requests: Mapping[str, Digest] = {label: rollout.request for label, rollout in done.rollouts.items()}
    made = Round(
        task=done.card.id,
        base=done.base.files,
        trees={label: tree.files for label, tree in done.trees.items()},
        rollouts=requests,
        decisions=done.decisions,
        choice=done.choice,
        adopted=done.adopted,
        evidence=evidence.manifest,
        words=words_of(words),
        templates=templates,
        listing=evidence.listing,
    )
    return made, evidence.new


def _evidence(done: Finished) -> Bundle:
    layout = Layout()
    cuts = lay_task(layout, done.material, done.caps)
    lay_decisions(layout, done.decisions, done.stages, done.caps)
    runs = [Shown(done.rollouts[label], f"rollouts/{label}.md", f"deliverables/{label}") for label in done.rolls]
    cuts += lay_runs(layout, runs, done.spec, done.card.expects, done.caps)
    layout.mount("base_harness", done.base.manifest())
    layout.mount("harness", done.trees.get(done.adopted, done.base).manifest())
    for label in done.stages:
        layout.mount(f"pool/{label}/harness", done.trees[label].manifest())
        layout.text(f"pool/{label}/harness.diff", diff_text(done.base, done.trees[label], "base", label, done.caps))
    adoption = {"chosen": done.adopted, "chosen_id": done.choice.id, "ids": dict(done.ids), "why": done.choice.why}
    layout.text("adoption.json", json.dumps(adoption, ensure_ascii=False, indent=2, sort_keys=True) + "\n")
    return layout.bundle(tuple(_listing(done, done.stages)), cuts)


def _listing(done: Finished, stages: Sequence[str]) -> list[str]:
    lines = task_lines(done.material)
    if stages:
        lines.append(f"`context/decisions/<label>.md`: notes of {labelled(stages, {})}")
    lines += run_lines(done.rollouts, done.rolls, done.spec)
    lines.append("`context/base_harness/`: the unmodified harness")
    lines.append("`context/harness/`: the adopted harness, to read")
    if stages:
        lines.append(
            f"`context/pool/<label>/`: the harnesses {labelled(stages, {})}, each with `harness/` and `harness.diff` "
            "(from the unmodified harness to it); its run has the same label"
        )
    lines.append(
        "`context/adoption.json`: which one was picked, why, and which label each id in that reason stands for"
    )
    return lines
