"""Library views: what a stream's earlier tasks had adopted, as files to read, with an index of all of them.

An adopted harness is kept whether or not a lesson came with it. Only the newest are whole, the index names them all;
those left out are marked. The same texts make the readable library on disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.manifest import Manifest
from harness2_core.model.names import file_name
from harness2_core.model.records import Adoption
from harness2_core.model.strategy import Edit
from harness2_core.model.surface import Surface
from harness2_core.model.trajectory import cut, shortened

from .layout import Bundle, Layout, left_out, one_line

FIELD_CHARS: Final = 8_000
"""Characters of each part of a lesson, of each column of a row on edits, and of a reason."""
EDITS: Final = 200
"""Rows on edits in one entry."""
NO_LESSON: Final = "(no lesson was drawn from it)"
_PLURALS: Final = {
    "skill": "skills",
    "sub-agent": "sub-agents",
    "script": "scripts",
    "hooks": "hook files",
    "plugin": "plugins",
    "program": "programs",
}


@frozen
class Shelved:
    """One entry as an index names it."""

    adoption: Adoption
    inventory: str
    whole: bool = True
    """Whether its harness lies beside the index."""


def library_view(
    adoptions: Sequence[Adoption],
    trees: Mapping[Digest, Manifest],
    surface: Surface,
    domain_word: str,
    max_harnesses: int,
) -> Bundle:
    """What a session may see of `adoptions` (one mode and domain, in stream order): empty when there are none.

    `trees` holds the manifest of every adopted tree; `max_harnesses` of them, the newest, are whole.
    """
    if not adoptions:
        return Bundle()
    layout = Layout()
    first_whole = max(len(adoptions) - max_harnesses, 0)
    shelf = []
    for index, adoption in enumerate(adoptions):
        entry = Shelved(adoption, inventory(trees[adoption.tree], surface), whole=index >= first_whole)
        shelf.append(entry)
        if entry.whole:
            folder = f"harnesses/{file_name(adoption.task)}"
            layout.mount(f"{folder}/harness", trees[adoption.tree])
            layout.text(f"{folder}/EXPERIENCE.md", experience_md(adoption, entry.inventory))
    layout.text("INDEX.md", index_md(shelf, domain_word))
    gone = tuple(f"the harness of {entry.adoption.task} was left out" for entry in shelf if not entry.whole)
    return layout.bundle(("`context/library/`: what earlier tasks had adopted: begin with `INDEX.md`",), gone)


def index_md(shelf: Sequence[Shelved], domain_word: str) -> str:
    """The index, newest entry first (`shelf` is in stream order)."""
    domain = one_line(shelf[0].adoption.domain) if shelf else ""
    lines = [
        f"# Library of the {domain_word} {domain}",
        "",
        "What earlier tasks had adopted, newest first. Look through the cues, then open the entries whose situation",
        "is like the one at hand. Facts in them are facts of other tasks.",
        "",
    ]
    if not shelf:
        return "\n".join([*lines[:1], "", "It is empty."]) + "\n"
    for entry in reversed(shelf):
        folder = f"harnesses/{file_name(entry.adoption.task)}"
        lesson = entry.adoption.lesson
        lines += [f"## {one_line(entry.adoption.task)}", "", f"- cue: {one_line(lesson.cue) if lesson else NO_LESSON}"]
        lines.append(f"- harness: {entry.inventory}")
        if entry.whole:
            lines += [f"- files: `{folder}/harness/`", f"- experience: `{folder}/EXPERIENCE.md`", ""]
        else:
            lines += [left_out("its files (only the newest entries are whole)"), ""]
    return "\n".join(lines).rstrip() + "\n"


@lru_cache(256)  # the newest entries are shown to each task of a stream
def experience_md(adoption: Adoption, inventory: str) -> str:
    """One entry in words: what was adopted, why, what each edit did, and the lesson or that there is none."""
    parts = [
        f"# {one_line(adoption.task)}",
        f"- **adopted**: {one_line(adoption.label)}\n- **harness**: {inventory}",
    ]
    if adoption.why.strip():
        parts.append(f"## Why it was picked\n\n{shortened(adoption.why.strip(), FIELD_CHARS)}")
    edits = adoption.edits or (adoption.lesson.edits if adoption.lesson else ())
    if edits:
        rows = [_edit(edit) for edit in edits[:EDITS]]
        rows += [left_out(f"{len(edits) - EDITS:,} more")] if len(edits) > EDITS else []
        parts.append("## What each edit did\n\n" + "\n".join(rows))
    parts.append("## Lesson")
    if adoption.lesson is None:
        parts.append(NO_LESSON)
    else:
        lesson = adoption.lesson
        fields = (
            ("cue", lesson.cue),
            ("lesson", lesson.lesson),
            ("evidence", lesson.evidence),
            ("confidence", lesson.confidence),
        )
        parts.append("\n".join(f"- **{name}**: {_indented(text)}" for name, text in fields if text.strip()))
    return "\n\n".join(parts) + "\n"


@lru_cache(512)
def inventory(tree: Manifest, surface: Surface) -> str:
    """What a tree has: counts of components, and the size of its always-on text in bytes."""
    kinds = Counter(surface.component(path) or "other" for path in tree.entries)
    parts = [f"{kinds[kind]} {plural}" for kind, plural in _PLURALS.items() if kinds[kind]]
    always_on = sum(tree.entries[path].size for path in surface.always_on if path in tree.entries)
    if surface.always_on:
        parts.append(f"{always_on:,} bytes of always-on text" if parts else f"always-on text only, {always_on:,} bytes")
    return ", ".join(parts) or "no component"


def _edit(edit: Edit) -> str:
    told = [("in", edit.candidates), ("change", edit.change), ("observed", edit.observed), ("verdict", edit.verdict)]
    rest = "; ".join(f"{name}: {_indented(text)}" for name, text in told if text.strip())
    component, _, mark = one_line(edit.component).partition("\n")
    return f"- `{component}`" + (f" ({rest})" if rest else "") + (f"\n  {mark}" if mark else "")


def _indented(text: str) -> str:
    """A model's text, which may be of any length and imitate our mark."""
    return cut(text.strip(), FIELD_CHARS).replace("\n", "\n  ")
