"""Trajectories: what an agent did, event by event, in one model for all frameworks, and the one renderer.

The rendered text is what improvers read. Long values are cut in the middle by the framework's own mark, and lines of
a value that look like the grammar's tags are quoted with a bar, so that nobody can forge an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from attrs import evolve, field, frozen

from .canonical import encodable
from .channel import Usage
from .frozen import sayings

OBSERVATION_CHARS: Final = 50_000
"""Characters one value of a trajectory may have before it is cut."""


@frozen
class Assistant:
    """Text the model addressed to its user."""

    text: str = field(converter=encodable)


@frozen
class Reasoning:
    """What the model wrote to itself, as far as its provider shows it."""

    text: str = field(converter=encodable)


@frozen
class Action:
    """A tool call with its full input (JSON or plain text)."""

    name: str = field(converter=encodable)
    input: str = field(converter=encodable)


@frozen
class Observation:
    """What a tool answered; `error` when the tool itself reported failure."""

    text: str = field(converter=encodable)
    error: bool = False


@frozen
class Failure:
    """An error of the agent or its provider, not of a tool."""

    text: str = field(converter=encodable)


@frozen
class FileChange:
    """The agent's own word that it changed a file; what was delivered is captured from the disk."""

    path: str = field(converter=encodable)
    diff: str = field(default="", converter=encodable)


@frozen
class Unknown:
    """An event of a kind this version does not know: kept and counted, never dropped."""

    kind: str = field(converter=encodable)
    text: str = field(converter=encodable)


Event: TypeAlias = Assistant | Reasoning | Action | Observation | Failure | FileChange | Unknown


@frozen
class Trajectory:
    """`notes` are remarks of the parser, for people: truncation, lines it could not read."""

    events: tuple[Event, ...]
    usage: Usage = field(factory=Usage)
    notes: tuple[str, ...] = field(converter=sayings, default=())


_LINE_END: Final = r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_OPENING: Final = r"[ \t\xa0\u200b-\u200d\u2060\ufeff]*\|*\["
_LINE_START: Final = rf"(?:\A|(?<={_LINE_END}))(?={_OPENING}"
"""Whatever a reader may take for the beginning of a line, then blanks that hide, bars of earlier quoting, a bracket."""
_TAG: Final = re.compile(
    _LINE_START + r"(?:ASSISTANT|REASONING|ACTION|OBSERVATION(?: ERROR)?|ERROR|FILE CHANGE|UNKNOWN|NOTE)\b)"
)
_MARK: Final = re.compile(_LINE_START + r"harness2:)")


def cut(text: str, limit: int, what: str = "characters") -> str:
    """`text` with its middle left out when it is longer than `limit`, and a mark saying so in its place.

    A forged mark in `text` is quoted, so call it once, on what the agent wrote.
    """
    if len(text) <= limit:
        return _MARK.sub("|", text)
    head = limit * 2 // 3
    tail = limit - head
    mark = _left_out(len(text) - head - tail, what)
    # Quoted after the cut, which may bring what stood inside a line to the beginning of one.
    return _MARK.sub("|", text[:head]) + mark + _MARK.sub("|", text[len(text) - tail :])


def clip(trajectory: Trajectory, limit: int = OBSERVATION_CHARS) -> Trajectory:
    """The trajectory with each single value cut to `limit` characters; events themselves are never dropped."""
    return evolve(
        trajectory,
        events=tuple(_clipped(event, limit) for event in trajectory.events),
        notes=tuple(cut(note, limit) for note in trajectory.notes),
    )


def shortened(text: str, limit: int) -> str:
    """As `cut`, of what `cut` or `render` has made: marks in it are the framework's own, and stay as they are."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    begin = len(text) - (limit - head)
    inside = not re.match(_LINE_END, text[begin - 1])
    tail = text[begin:]
    if inside and re.match(_OPENING, tail):  # it stood inside a line, and is neither mark nor tag
        tail = f"|{tail}"
    return f"{text[:head]}{_left_out(begin - head, 'characters')}{tail}"


def render(trajectory: Trajectory) -> str:
    """The transcript in the shared grammar: one tag line an event, its text below, a blank line between."""
    parts = [part for event in trajectory.events for part in _lines(event)]
    parts += [f"[NOTE] {_quoted(note)}" for note in trajectory.notes]
    return "\n\n".join(parts) + "\n" if parts else "[NOTE] the agent left nothing readable\n"


def _left_out(count: int, what: str) -> str:
    return f"\n[harness2: {count:,} {what} left out here by the renderer]\n"


def _lines(event: Event) -> Iterable[str]:
    match event:
        case Assistant(text):
            yield f"[ASSISTANT]\n{_quoted(text)}"
        case Reasoning(text):
            yield f"[REASONING]\n{_quoted(text)}"
        case Action(name, given):
            yield f"[ACTION] {_one_line(name)}\n{_quoted(given)}"
        case Observation(text, error):
            yield f"[OBSERVATION{' ERROR' if error else ''}]\n{_quoted(text)}"
        case Failure(text):
            yield f"[ERROR]\n{_quoted(text)}"
        case FileChange(path, diff):
            yield f"[FILE CHANGE] {_one_line(path)}\n{_quoted(diff)}".rstrip("\n")
        case Unknown(kind, text):
            yield f"[UNKNOWN] {_one_line(kind)}\n{_quoted(text)}".rstrip("\n")


def _clipped(event: Event, limit: int) -> Event:
    match event:
        case Action(name, given):
            return Action(cut(name, limit), cut(given, limit))
        case FileChange(path, diff):
            return FileChange(cut(path, limit), cut(diff, limit))
        case Observation(text, error):
            return Observation(cut(text, limit), error)
        case Unknown(kind, text):
            return Unknown(cut(kind, limit), cut(text, limit))
        case Assistant(text):
            return Assistant(cut(text, limit))
        case Reasoning(text):
            return Reasoning(cut(text, limit))
        case Failure(text):
            return Failure(cut(text, limit))


def _quoted(text: str) -> str:
    return _TAG.sub("|", text.replace("\x00", "\ufffd"))


def _one_line(text: str) -> str:
    return " ".join(text.replace("\x00", "\ufffd").split())
