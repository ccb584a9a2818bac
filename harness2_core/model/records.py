"""Records: what became of requests, and what a task ended with. Values in the store; no run directory is reopened.

Keys that may differ between two runs that ended alike are named `*_at`, `elapsed_ms` or `host`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from .canonical import Digest, encodable
from .channel import Outcome, Usage
from .frozen import FrozenMap, frozen_map, sayings, strings, texts
from .manifest import Entry, Manifest, blob_entry
from .strategy import Edit, Lesson

EMPTY: Final = blob_entry(b"")
"""The entry of an empty file; every store can be given it again."""


@frozen
class Rollout:
    """What a rollout became, captured once by the worker that ran it. `outcome` LOST means dead: nothing came of it."""

    request: Digest
    outcome: Outcome
    delivered: bool = False
    transcript: Entry = EMPTY
    """Rendered text."""
    trajectory: Entry = EMPTY
    """JSON; the adapter's wins over the substrate's."""
    stream: Entry = EMPTY
    """Raw standard output, bounded."""
    stderr: Entry = EMPTY
    deliverables: Manifest = field(factory=Manifest)
    views: Manifest = field(factory=Manifest)
    """The deliverables as text and images; `name.txt` beside each."""
    missed: tuple[str, ...] = field(converter=sayings, default=())
    """What was delivered and could not be kept, in words: links, devices, files over a cap."""
    sealed: Manifest = field(factory=Manifest)
    """Grader-side files; judges only."""
    usage: Usage = field(factory=Usage)
    versions: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    note: str = field(default="", converter=encodable)
    cause: str = ""
    """Of a dead rollout: the kind of its last loss."""
    host: str = ""
    finished_at: str = ""

    @property
    def usable(self) -> bool:
        """Something ran to an end of its own or of its time limit, and may be evidence."""
        return self.outcome is not Outcome.LOST


@frozen
class Reply:
    """What a session became. Of `accepted` and `problems` exactly one says something when a harness was edited."""

    outcome: Outcome
    text: str = field(default="", converter=encodable)
    harvested: Manifest | None = None
    """The editable part as the improver left it, accepted or not."""
    accepted: Digest | None = None
    """The tree, when acceptance took it."""
    problems: tuple[str, ...] = field(converter=sayings, default=())
    """Why it was not accepted, in words the improver can act on."""
    notes: tuple[str, ...] = field(converter=sayings, default=())
    """What acceptance ignored or repaired."""
    kept: bool = False
    """The improver asked to keep what it was given."""
    usage: Usage = field(factory=Usage)
    request: Digest = ""
    cause: str = ""
    versions: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    host: str = ""
    finished_at: str = ""

    @property
    def answered(self) -> bool:
        """A complete, non-blank answer came back. Anything else is no answer, whatever text it left."""
        return self.outcome is Outcome.FINISHED and bool(self.text.strip())


@frozen
class Verdict:
    """One item's judgement. `passed` None is a judge failure, never zero. `weight` is a decimal string."""

    item: str
    passed: bool | None
    why: str = field(default="", converter=encodable)
    weight: str = "1"


@frozen
class Grade:
    """A grading. `score` is passed weight over weight, missing while any item is; a delivered nothing is zero."""

    request: Digest
    outcome: Outcome
    verdicts: tuple[Verdict, ...] = ()
    score: str | None = None
    """Decimal string between 0 and 1, or None: ungraded."""
    error: str = field(default="", converter=encodable)
    flags: tuple[str, ...] = field(converter=strings, default=())
    """Audit findings for people: they change no score."""
    usage: Usage = field(factory=Usage)
    cause: str = ""
    versions: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    host: str = ""
    finished_at: str = ""


RESULTS: Final[Mapping[str, type[Rollout] | type[Reply] | type[Grade]]] = {
    "rollout": Rollout,
    "session": Reply,
    "grade": Grade,
}
"""Kind of a request -> the record of its result."""


@frozen
class AttemptStarted:
    """Written before a try begins, so that what was in flight at a crash is known."""

    request: Digest
    ordinal: int
    host: str = ""
    started_at: str = ""


@frozen
class AttemptEnded:
    """Written after a try. `usage` is here only when no final record holds it: each price stands once."""

    request: Digest
    ordinal: int
    outcome: Outcome
    cause: str = ""
    """Kind of loss, a row of the policy table; empty when the attempt was final."""
    note: str = field(default="", converter=encodable)
    usage: Usage | None = None
    ended_at: str = ""


@frozen
class StageRecord:
    """One improvement step. `tree` is what its roll ran: accepted, kept, or fallen back to."""

    label: str
    kind: str
    tree: Digest
    sessions: tuple[Digest, ...]
    """Request digests: the session, then its correction if there was one."""
    fell_back: bool = False
    kept: bool = False
    notes: str = ""
    """Digest of the decision notes' text in the store, or empty."""
    error: str = ""


@frozen
class RollRecord:
    label: str
    rollout: Digest
    """The request's digest."""
    tree: Digest
    outcome: Outcome
    delivered: bool


@frozen
class SelectionRecord:
    """Which final was picked, blind. `ok` is false only when nothing was left to pick from."""

    selector: str
    ok: bool
    chosen: str = ""
    """Label."""
    chosen_id: str = ""
    why: str = ""
    ids: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Anonymous id -> label."""
    dropped: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Label -> why it was not on the ballot."""
    same: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Label -> label of the final that stands for it, having delivered the same."""
    trivial: bool = False
    fallback: bool = False
    """The selector failed; the first in ballot order was taken. Not reflected on, not adopted."""
    base_pick: bool = False
    sessions: tuple[Digest, ...] = ()
    error: str = ""


@frozen
class ReflectionRecord:
    """Best effort: its failure undoes nothing."""

    reflector: str
    sessions: tuple[Digest, ...] = ()
    lesson: Lesson | None = None
    edits: tuple[Edit, ...] = ()
    error: str = ""


@frozen
class Adoption:
    """One entry of a library: the adopted tree, and the lesson or the mark that there is none."""

    task: str
    mode: str
    domain: str
    label: str
    tree: Digest
    why: str = ""
    lesson: Lesson | None = None
    edits: tuple[Edit, ...] = ()


@frozen
class ModeRecord:
    """What one mode of one task ended with."""

    mode: str
    k: int
    plan: Digest
    view: Digest
    """The library view its sessions were given: a manifest."""
    seen: tuple[str, ...] = field(converter=strings, default=())
    """The earlier tasks of the stream that the view held."""
    stages: tuple[StageRecord, ...] = ()
    rolls: tuple[RollRecord, ...] = ()
    selection: SelectionRecord | None = None
    reflection: ReflectionRecord | None = None
    adopted: Digest = ""
    """The tree that entered the library, or empty."""
    ok: bool = False
    error: str = ""
    attempt: int = 1


@frozen
class BasesRecord:
    """The shared bases of one task."""

    task: str
    rolls: tuple[RollRecord, ...] = ()

    @property
    def usable(self) -> tuple[RollRecord, ...]:
        """Those that ran; none: the task is `base-failed`."""
        return tuple(roll for roll in self.rolls if roll.outcome is not Outcome.LOST)


@frozen
class ViewRecord:
    """The library view of one mode of one task, fixed when the mode begins: later entries reopen nothing."""

    view: Digest
    seen: tuple[str, ...] = field(converter=strings, default=())


@frozen
class Opening:
    """A person had a task opened again: what it does now, it does under the next attempt's number.

    Written before any of it starts, so that a killed run goes on with this attempt and opens no further one.
    """

    modes: tuple[str, ...] = field(converter=strings)
    """The modes that were opened; others stay as finished as they are."""
    fresh: bool = False
    """Nothing of former attempts is served."""


def _modes(items: Mapping[str, ModeRecord]) -> FrozenMap[ModeRecord]:
    return frozen_map(items)


@frozen
class Summary:
    """One task, merged over its modes. `status`: `ok`, `partial` or `base-failed`."""

    task: str
    domain: str
    k: int
    seed: int | None
    status: str
    bases: tuple[RollRecord, ...]
    modes: FrozenMap[ModeRecord] = field(converter=_modes)
    errors: tuple[str, ...] = field(converter=strings, default=())
