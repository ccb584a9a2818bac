"""Strategies: how a selector or reflector talks to sessions, as a generator that does nothing itself.

A dialogue yields asks and is sent their replies. It must be deterministic in its input and the replies: on resume it
is started anew and finished asks are served from the store.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Generator
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from attrs import evolve, field, frozen

from .canonical import Digest
from .errors import Harness2Error
from .frozen import FrozenMap, frozen_map, text_maps, texts
from .manifest import Manifest
from .templates import Templates

if TYPE_CHECKING:
    from .records import Reply

T = TypeVar("T")


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
    (reply,) = yield (ask,)
    problem = "the session ended without a complete answer"
    if reply.answered:
        try:
            return parse(reply.text)
        except Unusable as error:
            problem = str(error)
    (reply,) = yield (correction(ask, reply.text, problem),)
    if not reply.answered:
        raise Unusable(f"no answer to {ask.tag!r}, nor to its correction")
    return parse(reply.text)


def correction(ask: Ask, reply: str, problem: str) -> Ask:
    """The one correction of an ask whose reply could not be used."""
    said = f"Your former reply was:\n\n<former-reply>\n{reply.strip()}\n</former-reply>\n\n" if reply.strip() else ""
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

    def random(self) -> random.Random:
        """A generator of this ballot's own: never the global one."""
        return random.Random(self.seed)

    def mission(self, ids: Collection[str] = ()) -> str:
        """The standard mission to choose among `ids` (default: all candidates)."""
        return self.templates.render("select", words=self.words, ids=tuple(ids) or tuple(self.candidates))

    def narrowed(self, ids: Collection[str]) -> Manifest:
        """The evidence with only these candidates in it."""
        kept = {
            path: entry
            for path, entry in self.evidence.entries.items()
            if not path.startswith("candidates/") or path.split("/")[1].removesuffix(".md") in ids
        }
        return Manifest(kept)


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
    rollouts: FrozenMap[Digest] = field(converter=frozen_map)
    """Label -> request digest."""
    decisions: FrozenMap[str] = field(converter=texts)
    """Stage label -> its notes."""
    choice: Choice
    adopted: str
    """Label."""
    evidence: Manifest
    words: FrozenMap[str] = field(converter=texts)
    templates: Templates

    def mission(self) -> str:
        """The standard mission to reflect."""
        return self.templates.render("reflect", words=self.words, adopted=self.adopted, choice=self.choice)
