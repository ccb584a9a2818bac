"""The evidence of one improvement stage, laid out below `context/` from frozen values.

    task.md, source/...          the task and its files
    decisions/<label>.md         notes of earlier stages
    rollouts/<label>.md          transcripts of the shared rollouts
    deliverables/<label>/        INDEX.md, and their views under files/
    pool/<label>/                harness/, harness.diff (from the tree to be edited), rollout.md, deliverables/
    library/...                  what earlier tasks of the stream had adopted

The tree to be edited, `context/harness/`, is the request's own field and is not in the manifest. The result depends on
the values alone: not on the order in which work ended, and not on any text but notes and trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen

from harness2_core.model.bench import BenchSpec, TaskCard
from harness2_core.model.channel import Outcome
from harness2_core.model.frozen import FrozenMap, frozen_map, texts
from harness2_core.model.manifest import Manifest
from harness2_core.model.plan import Stage
from harness2_core.model.records import Rollout
from harness2_core.model.trajectory import cut
from harness2_core.model.tree import HarnessTree, diff

from .cuts import Caps, too_much
from .layout import Bundle, Layout, left_out
from .runs import Shown, lay_runs, readable

NAMED: Final = 6
"""Labels named in one line of a listing."""


@frozen
class Candidate:
    """What one earlier stage came to: the tree it left, and the rollout of it."""

    tree: HarnessTree
    rollout: Rollout


def _rollouts(items: Mapping[str, Rollout]) -> FrozenMap[Rollout]:
    return frozen_map(items)


def _candidates(items: Mapping[str, Candidate]) -> FrozenMap[Candidate]:
    return frozen_map(items)


@frozen
class Given:
    """All that a stage's evidence is made from. Mappings are by label and hold at least what the stage names."""

    card: TaskCard
    material: Manifest
    """The task's: `task.md` and `source/`, flat where inputs are to be left out."""
    spec: BenchSpec
    start: HarnessTree
    """The tree that the stage edits."""
    rollouts: FrozenMap[Rollout] = field(converter=_rollouts)
    pool: FrozenMap[Candidate] = field(converter=_candidates, factory=FrozenMap)
    decisions: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    library: Manifest = field(factory=Manifest)
    caps: Caps = field(factory=Caps)


def stage_evidence(stage: Stage, given: Given) -> Bundle:
    """What the session of `stage` may read. Trees are mentioned by their manifests; their files are in the store."""
    layout = Layout()
    cuts = lay_task(layout, given.material, given.caps)
    lay_decisions(layout, given.decisions, stage.decisions, given.caps)
    runs = [Shown(given.rollouts[x], f"rollouts/{x}.md", f"deliverables/{x}") for x in stage.rollouts]
    pool = [Shown(given.pool[x].rollout, f"pool/{x}/rollout.md", f"pool/{x}/deliverables") for x in stage.pool]
    cuts += lay_runs(layout, [*runs, *pool], given.spec, given.card.expects, given.caps)
    for label in stage.pool:
        tree = given.pool[label].tree
        layout.mount(f"pool/{label}/harness", tree.manifest())
        layout.text(f"pool/{label}/harness.diff", diff_text(given.start, tree, "current", label, given.caps))
    layout.mount("library", given.library)
    return layout.bundle(tuple(_listing(stage, given)), cuts)


def lay_task(layout: Layout, material: Manifest, caps: Caps) -> tuple[str, ...]:
    """The task's text and inputs, as the material step stored them; returns what was left out, in words.

    Single inputs can be left out only of a `material` that is flat.
    """
    kept = {path: e for path, e in material.entries.items() if path == "task.md" or path.startswith("source/")}
    gone = too_much({path: e.size for path, e in kept.items() if path.startswith("source/")}, caps.input_bytes)
    layout.adopt({path: entry for path, entry in kept.items() if path.endswith("/") or path not in gone})
    for path in sorted(path for path in gone if not path.endswith("/")):
        layout.text(path, left_out(f"{kept[path].size:,} bytes") + "\n")
    return tuple(f"{path} was left out" for path in sorted(gone) if not path.endswith("/"))


def lay_decisions(layout: Layout, notes: Mapping[str, str], labels: Sequence[str], caps: Caps) -> None:
    """One file of notes for each of `labels`."""
    for label in labels:
        text = cut(notes.get(label, "").strip(), caps.note_chars)
        layout.text(f"decisions/{label}.md", (text or "(this stage left no notes)") + "\n")


def diff_text(old: HarnessTree, new: HarnessTree, old_name: str, new_name: str, caps: Caps) -> str:
    """A diff that says so when there is nothing in it. A line of a harness that imitates our mark is quoted."""
    text = diff(old, new, old_name, new_name)
    return cut(text, caps.diff_chars) if text else f"(no file differs from {old_name})\n"


def task_lines(material: Manifest) -> list[str]:
    """The listing's lines about the task."""
    lines = ["`context/task.md`: the task as the agent was given it"] if "task.md" in material.entries else []
    if any(path.startswith("source/") for path in material.entries):
        lines.append("`context/source/`: the files that came with the task")
    return lines


def run_lines(rollouts: Mapping[str, Rollout], labels: Sequence[str], spec: BenchSpec) -> list[str]:
    """The listing's lines about rollouts, in the order of `labels`, with what is unusual about each."""
    if not labels:
        return []
    lines = [f"`context/rollouts/<label>.md`: transcripts of {labelled(labels, rollouts)}"]
    if not any(readable(rollouts[label]) for label in labels):
        lines.append("none of these rollouts left a transcript that can be read: go by the rest")
    what = "`INDEX.md` names what was delivered; what the files contain is withheld"
    if spec.deliverables != "names":
        what = "what each run delivered: begin with `INDEX.md`; the files are shown under `files/`"
    lines.append(f"`context/deliverables/<label>/`: {what}")
    return lines


def labelled(labels: Sequence[str], rollouts: Mapping[str, Rollout]) -> str:
    """Labels for a line, the first few of them."""
    first = ", ".join(_labelled(label, rollouts.get(label)) for label in labels[:NAMED])
    return first + (f" and {len(labels) - NAMED} more" if len(labels) > NAMED else "")


def _labelled(label: str, rollout: Rollout | None) -> str:
    remarks = []
    if rollout is not None and rollout.outcome is not Outcome.FINISHED:
        remarks.append(rollout.outcome.value)
    if rollout is not None and not rollout.deliverables.entries:
        remarks.append("delivered nothing")
    return f"`{label}`" + (f" ({', '.join(remarks)})" if remarks else "")


def _listing(stage: Stage, given: Given) -> list[str]:
    lines = task_lines(given.material)
    if stage.decisions:
        lines.append(f"`context/decisions/<label>.md`: notes of {labelled(stage.decisions, {})}")
    lines += run_lines(given.rollouts, stage.rollouts, given.spec)
    lines.append(f"`context/harness/`: the harness that you edit ({_files(len(given.start.files))})")
    if stage.pool:
        pool = {label: candidate.rollout for label, candidate in given.pool.items()}
        lines.append(
            f"`context/pool/<label>/`: the harnesses {labelled(stage.pool, pool)}, each with `harness/`, "
            "`harness.diff` (from the harness that you edit to it), `rollout.md` and `deliverables/`"
        )
    if given.library.entries:
        lines.append("`context/library/`: what earlier tasks had adopted: begin with `INDEX.md`")
    return lines


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
