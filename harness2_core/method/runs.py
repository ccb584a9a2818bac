"""What rollouts left, laid out for a session: a transcript and an indexed folder of deliverables for each.

Everything is mentioned by digest. A dead rollout leaves a line that says so; what is left out leaves the framework's
mark in its place and in the folder's `INDEX.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from attrs import frozen

from harness2_core.model.bench import BenchSpec
from harness2_core.model.channel import Outcome
from harness2_core.model.records import EMPTY, Rollout

from .cuts import Caps, is_image, too_many, too_much
from .layout import MARK, Bundle, Layout, left_out, phrase, shown

ENDED: Final = {
    Outcome.FINISHED: "the run ended by itself",
    Outcome.TIMED_OUT: "the run was stopped at its time limit",
    Outcome.OUT_OF_STEPS: "the run was stopped at its limit of steps",
    Outcome.REFUSED: "the model refused to go on",
    Outcome.CRASHED: "the agent broke off",
    Outcome.LOST: "the run was lost through no fault of the agent",
}
MISSED_CHARS: Final = 300
"""Characters of what is told of one thing that could not be kept."""
_NAMES_ONLY: Final = """\
What the files contain is withheld on purpose; do not ask for it and do not take an unlisted file to be empty. A file
that is missing or named otherwise than asked for is a finding all the same."""


@frozen
class Shown:
    """Where one rollout appears: the paths of its transcript (empty: nowhere) and of its deliverables' folder."""

    rollout: Rollout
    transcript: str
    product: str


def lay_runs(
    layout: Layout, runs: Sequence[Shown], spec: BenchSpec, expects: Collection[str], caps: Caps
) -> tuple[str, ...]:
    """Lays out `runs` under the caps of one evidence; returns what was left out, in words and sorted."""
    names_only = spec.deliverables == "names"
    sizes: dict[str, int] = {}
    gone: set[str] = set()
    for run in runs:
        if run.transcript:
            sizes[run.transcript] = run.rollout.transcript.size
        if not names_only:
            beyond = too_many(run.rollout.views, caps)
            gone.update(f"{run.product}/files/{path}" for path in beyond)
            views = run.rollout.views.entries.items()
            sizes.update({f"{run.product}/files/{path}": e.size for path, e in views if path not in beyond})
    gone |= too_much(sizes, caps.bytes_seen)
    for run in runs:
        if run.transcript:
            _lay_transcript(layout, run, run.transcript in gone)
        prefix = f"{run.product}/files/"
        mine = frozenset(path.removeprefix(prefix) for path in gone if path.startswith(prefix))
        layout.include(run.product, product(run.rollout, tuple(expects), caps, mine, names_only=names_only))
    return tuple(f"{path} was left out" for path in sorted(gone))


def readable(rollout: Rollout) -> bool:
    """Whether there is a transcript to read."""
    return rollout.usable and rollout.transcript != EMPTY


def missed_lines(rollout: Rollout) -> list[str]:
    """What was delivered and could not be kept, a mark each."""
    return [f"{MARK}{phrase(text, MISSED_CHARS)}]" for text in rollout.missed]


@lru_cache(512)  # each stage of a task shows the same rollouts
def product(
    rollout: Rollout,
    expects: tuple[str, ...],
    caps: Caps,
    gone: frozenset[str] = frozenset(),
    *,
    names_only: bool = False,
) -> Bundle:
    """A rollout's deliverables as a folder: `INDEX.md`, and their views under `files/` without those in `gone`."""
    layout = Layout()
    layout.text("INDEX.md", _index(rollout, expects, caps, gone, names_only))
    if not names_only and not gone:
        layout.mount("files", rollout.views)
    elif not names_only:
        files = Layout()
        files.adopt({path: entry for path, entry in rollout.views.entries.items() if path not in gone})
        for path in sorted(gone)[: caps.files]:
            if not is_image(path):  # text where an image is expected would be a broken image
                files.text(path, left_out(f"{rollout.views.entries[path].size:,} bytes") + "\n")
        layout.include("files", files.bundle())
    return layout.bundle()


def _lay_transcript(layout: Layout, run: Shown, gone: bool) -> None:
    if not readable(run.rollout):
        why = ENDED[run.rollout.outcome]
        layout.text(run.transcript, f"{MARK}there is no transcript: {why}]\n")
    elif gone:
        layout.text(run.transcript, left_out(f"a transcript of {run.rollout.transcript.size:,} bytes") + "\n")
    else:
        layout.blob(run.transcript, run.rollout.transcript)


def _index(rollout: Rollout, expects: Collection[str], caps: Caps, gone: Collection[str], names_only: bool) -> str:
    made = rollout.deliverables.entries
    lines = ["# What was delivered", "", f"How it ended: {ENDED[rollout.outcome]}.", ""]
    if expects:
        lines += [f"- asked for {shown(path)}: {'there' if path in made else 'missing'}" for path in sorted(expects)]
        lines.append("")
    missed = missed_lines(rollout)
    if not made:
        return "\n".join([*lines, "No file was delivered.", *missed]) + "\n"
    lines += [f"Files: {len(made)}", ""]
    lines += [
        f"- {shown(path)}" + ("" if names_only else f": {made[path].size:,} bytes") for path in list(made)[: caps.files]
    ]
    if len(made) > caps.files:
        lines.append(left_out(f"{len(made) - caps.files:,} more names"))
    lines += missed
    if names_only:
        return "\n".join([*lines, "", _NAMES_ONLY]) + "\n"
    views = rollout.views.entries
    if views:
        lines += ["", "In `files/` they are shown as a reader renders them, as text and images:", ""]
        kept = [path for path in views if path not in gone]
        lines += [f"- {shown('files/' + path)}: {views[path].size:,} bytes" for path in kept]
        lines += [
            left_out(f"{shown('files/' + path)} ({views[path].size:,} bytes)") for path in sorted(gone)[: caps.files]
        ]
        if len(gone) > caps.files:
            lines.append(left_out(f"{len(gone) - caps.files:,} more files"))
        lines += ["", "What cannot be read there could not be read by that reader."]
    else:
        lines += ["", "No reader could show what is in them."]
    return "\n".join(lines) + "\n"
