"""Strategies: how a selector or reflector talks to sessions, as a generator that does nothing itself.

A dialogue yields asks and is sent their replies. It must be deterministic in its input and the replies: on resume it
is started anew and finished asks are served from the store.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Generator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from attrs import evolve, field, frozen

from .canonical import Digest
from .errors import Harness2Error
from .frozen import FrozenMap, strings, text_maps, texts
from .manifest import Manifest
from .templates import Templates
from .trajectory import cut

if TYPE_CHECKING:
    from .records import Reply

T = TypeVar("T")

FORMER_CHARS: Final = 20_000
"""Characters of an unusable reply that its correction repeats; some agents take a mission as one argument."""


class Unusable(Harness2Error):
    """A reply holds no answer; the text says what was missing, for the one correction."""


@frozen
class Ask:
    """One session wanted by a dialogue. Core adds role, channel, draw, cache and limits.

    `tag` is a lower-case label, unique within the dialogue. `corrects` is the tag of the ask whose reply was unusable:
    the new session then repeats its workspace and is labelled `<label>.fix`.
    """

    tag: str
    mission: str
    evidence: Manifest
    corrects: str = ""


Dialogue: TypeAlias = Generator[tuple[Ask, ...], "tuple[Reply, ...]", T]


def asked(ask: Ask, parse: Callable[[str], T]) -> Dialogue[T]:
    """Asks once, and once more when `parse` raises `Unusable`, repeating the mission with the reply and why."""
    (result,) = yield from asked_all(((ask, parse),))
    if isinstance(result, Unusable):
        raise result
    return result


def asked_all(questions: Sequence[tuple[Ask, Callable[[str], T]]]) -> Dialogue[tuple[T | Unusable, ...]]:
    """`asked` for many questions side by side; an `Unusable` stands where the correction failed too."""
    if not questions:
        return ()
    asks = tuple(ask for ask, _ in questions)
    replies = yield asks
    results = [_read(ask, parse, reply) for (ask, parse), reply in zip(questions, replies, strict=True)]
    failed = [index for index, result in enumerate(results) if isinstance(result, Unusable)]
    if failed:
        again = tuple(correction(asks[index], replies[index].text, str(results[index])) for index in failed)
        for index, reply in zip(failed, (yield again), strict=True):
            results[index] = _read(asks[index], questions[index][1], reply)
    return tuple(results)


def _read(ask: Ask, parse: Callable[[str], T], reply: Reply) -> T | Unusable:
    if not reply.answered:
        return Unusable(f"the session {ask.tag!r} ended without a complete answer")
    try:
        return parse(reply.text)
    except Unusable as error:
        return error


def correction(ask: Ask, reply: str, problem: str) -> Ask:
    """The one correction of an ask whose reply could not be used."""
    former = cut(reply.strip(), FORMER_CHARS)
    said = f"Your former reply was:\n\n<former-reply>\n{former}\n</former-reply>\n\n" if former else ""
    mission = (
        f"{ask.mission.rstrip()}\n\n# Your former reply could not be used\n\n{said}Reason: {problem}\n\nReply again.\n"
    )
    return evolve(ask, tag=f"{ask.tag}_fix", mission=mission, corrects=ask.tag)


@frozen
class Choice:
    """A selector's pick: an anonymous id of the ballot, and why."""

    id: str
    why: str = ""


@frozen
class Ballot:
    """What a selector may see: anonymous candidates and the task's own evidence. No label, run id, harness or score."""

    candidates: FrozenMap[FrozenMap[str]] = field(converter=text_maps)
    """Anonymous id -> path -> text view."""
    evidence: Manifest
    """Laid out under `context/`: `task.md`, `source/`, `candidates/<ID>/...`."""
    words: FrozenMap[str] = field(converter=texts)
    seed: int
    templates: Templates

    @property
    def ids(self) -> tuple[str, ...]:
        """The candidates in ballot order: A to Z, then AA, AB and so on."""
        return tuple(sorted(self.candidates, key=lambda id: (len(id), id)))

    def random(self) -> random.Random:
        """A generator of this ballot's own: never the global one."""
        return random.Random(self.seed)

    def mission(self, ids: Collection[str] = ()) -> str:
        """The standard mission to choose among `ids`, in this order (default: all candidates in ballot order)."""
        asked_of = tuple(ids) or self.ids
        return self.templates.render("select", words=self.words, ids=asked_of, listing=self._listing(asked_of))

    def narrowed(self, ids: Collection[str]) -> Manifest:
        """The evidence with only these candidates in it."""
        kept = {
            path: entry
            for path, entry in self.evidence.entries.items()
            if not path.startswith("candidates/") or path.split("/")[1].removesuffix(".md") in ids
        }
        return Manifest(kept)

    def _listing(self, ids: Collection[str]) -> tuple[str, ...]:
        """Lines that name what lies in the evidence, and nothing else."""
        paths = self.evidence.entries
        lines = []
        if "task.md" in paths:
            lines.append("`context/task.md`: the task as it was given")
        if any(path.startswith("source/") for path in paths):
            lines.append("`context/source/`: the files that came with the task")
        for id in (id for id in ids if f"candidates/{id}.md" in paths):
            folder = any(path.startswith(f"candidates/{id}/") for path in paths)
            inside = f", its files are in `context/candidates/{id}/`" if folder else ""
            lines.append(f"`context/candidates/{id}.md`: what candidate {id} consists of{inside}")
        return tuple(lines)


@frozen
class Edit:
    """What one change of a component did. `verdict`: helped, hurt, no observed effect, confounded."""

    component: str
    change: str = ""
    candidates: str = ""
    observed: str = ""
    verdict: str = ""


@frozen
class Lesson:
    """One transferable lesson: the shape of a situation, a checkable operation, and what was seen."""

    cue: str
    lesson: str
    evidence: str
    edits: tuple[Edit, ...] = ()
    confidence: str = ""


@frozen
class Round:
    """All of one mode's work on a task, for a reflector. Trees are texts; everything else lies in `evidence`."""

    task: str
    base: FrozenMap[str] = field(converter=texts)
    """Path -> text of the unmodified harness."""
    trees: FrozenMap[FrozenMap[str]] = field(converter=text_maps)
    """Stage label -> path -> text."""
    rollouts: FrozenMap[Digest] = field(converter=texts)
    """Label -> request digest."""
    decisions: FrozenMap[str] = field(converter=texts)
    """Stage label -> its notes."""
    choice: Choice
    adopted: str
    """Label."""
    evidence: Manifest
    words: FrozenMap[str] = field(converter=texts)
    templates: Templates
    listing: tuple[str, ...] = field(converter=strings, default=())
    """Lines that name what lies in the evidence."""

    def mission(self) -> str:
        """The standard mission to reflect."""
        return self.templates.render(
            "reflect", words=self.words, adopted=self.adopted, choice=self.choice, listing=self.listing
        )
