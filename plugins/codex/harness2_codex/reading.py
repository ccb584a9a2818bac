"""Reads the one stream of a run, line by line: events of `codex exec --json`, with its log and other words between.

An item is told of when it begins, changes and ends: it stands where it began, in its last state. A log line that says
why a tool did not run becomes an action and its error, for no item tells of it. Whatever is neither is kept as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from attrs import define, field, frozen
from harness2_agents.stream import Record, as_text, object_at, records, text_at

from harness2_core.api import Action, Event, Failure, Observation, Unknown

from .items import Item, events_of, is_open
from .log import Answered, Entry, ToolDone, ToolFailed, entry_in
from .spent import Spent, counts_in

TURN_FAILED: Final = "codex gave up: "
"""How the text of a `Failure` begins when Codex tells of it: an error of the provider or of the way there."""

WAITING: Final = "codex was waiting to ask again: "
"""How the text of a `Failure` begins when the run was ended while Codex waited for the provider to recover."""
OUT_OF_STEPS: Final = "the agent was ended: it had taken "
"""How the text of a `Failure` begins when `steps.sh` ended it."""

_OURS: Final = "--dangerously-bypass-hook-trust"
_CHATTER: Final = (
    "Reading prompt from stdin",
    "Reading additional input from stdin",
    "warning: Untrusted project-local",
)
_BLOCKED: Final = re.compile(r"Command blocked by PreToolUse hook: .*\. Command: (?P<command>.*)\Z", re.DOTALL)


@frozen
class Read:
    """What the stream told. `began`: Codex came as far as to open a conversation."""

    events: tuple[Event, ...]
    notes: tuple[str, ...]
    spent: Spent
    began: bool
    said: str
    """The last line that was no event: why a program that never began did not."""


def read(*streams: Iterable[bytes]) -> Read:
    """Takes any bytes, cut anywhere."""
    reader = _Reader()
    for line, whole in chain.from_iterable(_lines(stream) for stream in streams):
        reader.take(line, whole)
    return reader.read()


@define
class _Reader:
    """Grows with each line."""

    slots: list[tuple[Event, ...] | str] = field(factory=list, init=False)
    """Events as they come; in the place of an item its id."""
    items: dict[str, Item] = field(factory=dict, init=False)
    failing: list[str] = field(factory=list, init=False)
    """Lines of what a tool's failure says, until the log goes on; its place is kept at `failing_at`."""
    failing_at: int = field(default=0, init=False)
    spent: Spent = field(factory=Spent, init=False)
    threads: list[str] = field(factory=list, init=False)
    failures: list[str] = field(factory=list, init=False)
    waiting: list[str] = field(factory=list, init=False)
    """Why it is about to ask again, until it goes on."""
    warnings: Counter[str] = field(factory=Counter, init=False)
    unread: list[str] = field(factory=list, init=False)
    cut: list[str] = field(factory=list, init=False)

    def take(self, line: bytes, whole: bool) -> None:
        text = line.replace(b"\x00", b"").decode("utf-8", "replace").rstrip("\r")
        entry = entry_in(text)
        if entry is not None:
            self._logged(entry)
            return
        for record in records((line,)):
            if record.value is None:
                self._junk(record, whole)
            else:
                self._event(record.value)

    def read(self) -> Read:
        self._failed("")
        events = chain.from_iterable(
            events_of(self.items[slot]) if isinstance(slot, str) else slot for slot in self.slots
        )
        failures = tuple(Failure(TURN_FAILED + text) for text in dict.fromkeys(self.failures))
        failures = failures or tuple(Failure(WAITING + text) for text in self.waiting[-1:])
        said = self.unread[-1] if self.unread else ""
        return Read((*events, *failures), tuple(self._notes()), self.spent, bool(self.threads), said)

    def _logged(self, entry: Entry) -> None:
        match entry:
            case ToolFailed(text):
                self._failed("")
                self.failing.append(text)
                self.failing_at = len(self.slots)
                self.slots.append(())
            case ToolDone(_, tool):
                self._failed(tool)
            case Answered(conversation, model, counts):
                self._failed("")
                self.waiting.clear()
                self.spent.answered(conversation, model, counts)
            case _:
                self._failed("")

    def _failed(self, tool: str) -> None:
        """A tool that no item tells of, as soon as all lines of its error are there."""
        if self.failing:
            text = "\n".join(self.failing).rstrip()
            blocked = _BLOCKED.match(text)
            given = blocked["command"] if blocked else ""
            name = "shell" if blocked else tool or "a tool"
            self.slots[self.failing_at] = (Action(name, given), Observation(text, error=True))
            self.failing.clear()

    def _junk(self, record: Record, whole: bool) -> None:
        text = record.text.strip("\r")
        if self.failing:
            self.failing.append(text)
        elif not whole:
            self.cut.append(text)
            self.slots.append((Unknown("cut line", text),))
        elif not text.startswith(_CHATTER):
            self.unread.append(text)
            self.slots.append((Unknown("line", text),))

    def _event(self, value: Item) -> None:
        if text_at(value, "type") != "error":
            self.waiting.clear()
        match text_at(value, "type"):
            case "thread.started":
                self.threads.append(text_at(value, "thread_id"))
            case "turn.started":
                pass
            case "harness2.out_of_steps":
                self.slots.append((Failure(f"{OUT_OF_STEPS}{text_at(value, 'steps')} steps"),))
            case "item.started" | "item.updated" | "item.completed" if object_at(value, "item"):
                self._item(object_at(value, "item"))
            case "turn.completed":
                self.warnings.update(self.failures)  # it went on after them
                self.failures.clear()
                self.spent.turn(self.threads[-1] if self.threads else "", counts_in(object_at(value, "usage")))
            case "turn.failed":
                self.failures.append(text_at(value, "error", "message") or as_text(dict(value)))
            case "error" if (message := text_at(value, "message")).startswith("Reconnecting"):
                self.warnings[message] += 1
                self.waiting.append(message)
            case "error":
                self.failures.append(text_at(value, "message") or as_text(dict(value)))
            case kind:
                self.slots.append((Unknown(kind or "object without a type", as_text(dict(value))),))

    def _item(self, item: Item) -> None:
        if text_at(item, "type") == "error":  # its warnings; errors that end a turn are events of their own
            self.warnings[text_at(item, "message") or as_text(dict(item))] += 1
            return
        name = text_at(item, "id")
        if not name:
            self.slots.append(events_of(item))
            return
        if name not in self.items:
            self.slots.append(name)
        self.items[name] = item

    def _notes(self) -> Iterator[str]:
        for text, times in self.warnings.items():
            if _OURS not in text:
                yield f"codex warns: {text}" + (f" ({times} times)" if times > 1 else "")
        unended = sum(is_open(item) for item in self.items.values())
        if unended:
            yield f"of {unended} {'action' if unended == 1 else 'actions'} the stream does not tell the end"
        kinds = Counter(event.kind for slot in self.slots if not isinstance(slot, str) for event in _unknown(slot))
        kinds.update(event.kind for item in self.items.values() for event in _unknown(events_of(item)))
        if kinds:
            yield "kept without being understood: " + ", ".join(f"{count} × {kind}" for kind, count in kinds.items())


def _unknown(events: Iterable[Event]) -> Iterator[Unknown]:
    return (event for event in events if isinstance(event, Unknown))


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each line, and whether it was whole; the last one is when the stream ends in a line feed."""
    pending: list[bytes] = []
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join((*pending, line)), True
            pending.clear()
        if rest:
            pending.append(rest)
    if pending:
        yield b"".join(pending), False
