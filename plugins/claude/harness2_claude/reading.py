"""The stream of `claude -p --output-format stream-json` as events.

Pure and tolerant: whatever of the stream is there is read; what is not understood is kept, and counted in the notes.
The answer of a tool stands at its call, also where several were made at once; that of a sub-agent behind all it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from attrs import define, field
from harness2_agents.stream import Json, Record, as_text, count_at, list_at, object_at, records, text_at, value_at

from harness2_core.api import Assistant, Event, Failure, Observation, Reasoning, Unknown

from .items import Block, action, changes, observation
from .spent import Spent

GAVE_UP: Final = "claude gave up: "
"""How the text of a `Failure` begins when a request failed for good: by the provider, the way there, or a refusal."""
OUT_OF_STEPS: Final = "the agent was stopped at a limit of its own: "
BROKE_OFF: Final = "claude broke off: "
_OURS: Final = "<synthetic>"
"""The model of messages that Claude Code writes itself."""
_RATE_LIMIT: Final = "rate_limit"
_LIMITS: Final = ("error_max_turns", "error_max_budget_usd")
_SUB_AGENT_TOOLS: Final = ("Agent", "Task")
_QUIET: Final = (
    "init",
    "hook_started",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
)
"""System events that tell nothing which others do not tell."""
_NOTE_CHARS: Final = 300


def read(chunks: Iterable[bytes]) -> Reading:
    reading = Reading()
    for record in records(chunks):
        reading.take(record)
    return reading


@define
class Reading:
    """What was read so far."""

    spent: Spent = field(factory=Spent)
    began: bool = False
    """Whether Claude Code came as far as to open a conversation."""
    _slots: list[list[Event]] = field(factory=list)
    _calls: dict[str, tuple[Block, list[Event]]] = field(factory=dict)
    """Tool call -> itself, and its slot, until it is answered."""
    _agents: dict[str, str] = field(factory=dict)
    """Tool call -> the kind of sub-agent that it started."""
    _waiting: str = ""
    """Why the provider is being asked again, until it answers."""
    _asked_to_wait: int = 0
    """Seconds, when that is a rate limit."""
    _counts: Counter[str] = field(factory=Counter)
    _unknown: Counter[str] = field(factory=Counter)
    _denied: Counter[str] = field(factory=Counter)
    _hooks: Counter[str] = field(factory=Counter)
    _told: Counter[str] = field(factory=Counter)
    """What Claude Code would have shown to a person."""

    def take(self, record: Record) -> None:
        value = record.value
        if value is None:
            self._counts["cut" if record.cut else "junk"] += 1
            self._add(Unknown("cut off" if record.cut else "text", record.text))
            return
        match text_at(value, "type"):
            case "system":
                self._system(value)
            case "assistant" if object_at(value, "message"):
                self._answered(value, object_at(value, "message"))
            case "user" if object_at(value, "message"):
                self._user(value, value_at(value, "message", "content"))
            case "result":
                self._result(value)
            case kind:
                self._keep(kind or "an object without a type", value)

    def events(self) -> tuple[Event, ...]:
        """All so far; a wait for the provider that did not end is the last of them."""
        found = tuple(chain.from_iterable(self._slots))
        return (*found, Failure(GAVE_UP + self._waiting)) if self._waiting else found

    def notes(self) -> Iterator[str]:
        if self._counts["retry"]:
            yield f"the provider was asked again, times: {self._counts['retry']}"
        if self._counts["compact"]:
            yield f"the conversation was summed up to make room, times: {self._counts['compact']}"
        for hook, times in sorted(self._hooks.items()):
            yield f"hook {hook}" + (f", times: {times}" if times > 1 else "")
        for text, times in self._told.items():
            yield f"claude says: {text}" + (f", times: {times}" if times > 1 else "")
        if self._denied:
            yield "calls that a hook or missing rights stopped: " + _listed(self._denied)
        if self._unknown:
            yield "events of unknown kinds: " + _listed(self._unknown)
        if self._counts["junk"]:
            yield f"lines that are no events: {self._counts['junk']}"
        if self._counts["cut"]:
            yield "the stream ended in the middle of an event"
        if self.began and not self.spent.told:
            yield "the stream ended before its result: what was used is at least what is counted"

    def _add(self, *events: Event) -> list[Event]:
        self._slots.append([*events])
        return self._slots[-1]

    def _keep(self, kind: str, value: Mapping[str, Json]) -> None:
        self._unknown[kind] += 1
        self._add(Unknown(kind, as_text(dict(value))))

    def _system(self, value: Mapping[str, Json]) -> None:
        kind = text_at(value, "subtype")
        match kind:
            case "init":
                self.began = True
            case "api_retry":
                self._counts["retry"] += 1
                error = text_at(value, "error")
                self._asked_to_wait = -(-count_at(value, "retry_delay_ms") // 1000) if error == _RATE_LIMIT else 0
                self._waiting = self._reason(value, error, count_at(value, "error_status"))
            case "compact_boundary":
                self._counts["compact"] += 1
            case "hook_response":
                failed = text_at(value, "outcome") not in ("", "success")
                said = f" failed: {_short(text_at(value, 'stderr') or text_at(value, 'output'))}" if failed else " ran"
                self._hooks[(text_at(value, "hook_name") or "without a name") + said] += 1
            case "notification" | "informational" if text_at(value, "text") or text_at(value, "content"):
                self._told[_short(text_at(value, "text") or text_at(value, "content"))] += 1
            case _ if kind not in _QUIET:
                self._keep(f"system {kind}".strip(), value)

    def _answered(self, value: Mapping[str, Json], message: Mapping[str, Json]) -> None:
        self.began = True
        self._waiting = ""
        agent = self._agent(value)
        if text_at(message, "model") == _OURS:
            texts = "\n".join(text_at(block, "text") for block in list_at(message, "content"))
            error = text_at(value, "error")
            self._add(Failure(GAVE_UP + self._reason(value, error, 0, texts) if error else BROKE_OFF + texts))
            return
        self.spent.message(message)
        content = list_at(message, "content")
        for block in content:
            self._block(block if isinstance(block, Mapping) else {}, agent)
        if not content:
            text = text_at(message, "content")
            if text:
                self._add(Assistant(text))

    def _block(self, block: Block, agent: str) -> None:
        match text_at(block, "type"):
            case "text":
                # Only the agent itself answers; what sub-agents say reaches it as the answer of a tool.
                text = text_at(block, "text")
                self._add(Reasoning(f"{agent}: {text}") if agent else Assistant(text))
            case "thinking":
                text = text_at(block, "thinking")
                if text.strip():
                    self._add(Reasoning(f"{agent}: {text}" if agent else text))
            case "tool_use" | "server_tool_use":
                slot = self._add(action(block, agent))
                name = text_at(block, "id")
                self._calls[name] = (block, slot)
                if text_at(block, "name") in _SUB_AGENT_TOOLS:
                    self._agents[name] = text_at(block, "input", "subagent_type") or "sub-agent"
            case "web_search_tool_result" | "web_fetch_tool_result":
                self._result_of(block, None)
            case kind:
                self._keep(f"content {kind}".strip(), block)

    def _user(self, value: Mapping[str, Json], content: Json) -> None:
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            match text_at(block, "type"):
                case "tool_result":
                    self._result_of(object_at(block), value.get("tool_use_result"))
                case "text" if self._agent(value):
                    pass  # what a sub-agent was told: the input of the call that started it
                case "text" if text_at(block, "text").strip():
                    # What Claude Code itself puts in: the body of a skill, the words of a hook.
                    self._add(Observation(text_at(block, "text")))
                case "text":
                    pass
                case kind:
                    self._keep(f"content {kind}".strip(), object_at(block))

    def _result_of(self, result: Block, told: Json) -> None:
        call, slot = self._calls.pop(text_at(result, "tool_use_id"), ({}, None))
        seen = observation(result)
        found = [seen, *(changes(call, told) if not seen.error else ())]
        if slot is None or text_at(call, "name") in _SUB_AGENT_TOOLS:
            self._add(*found)
        else:
            slot.extend(found)

    def _result(self, value: Mapping[str, Json]) -> None:
        self._waiting = ""
        self.spent.result(value)
        self._denied = Counter(text_at(item, "tool_name") for item in list_at(value, "permission_denials"))
        kind = text_at(value, "subtype")
        said = "; ".join(as_text(error) for error in list_at(value, "errors"))
        if kind in _LIMITS:
            self._add(Failure(OUT_OF_STEPS + (said or kind)))
        elif value.get("is_error") is True:
            status = count_at(value, "api_error_status")
            said = said or text_at(value, "result")
            last = self._slots[-1][-1] if self._slots else None
            if isinstance(last, Failure) and last.text.startswith(GAVE_UP):
                if status:  # the message before told the words, and no number
                    self._slots[-1][-1] = Failure(f"{last.text} (status {status})")
            elif kind == "success":
                self._add(Failure(GAVE_UP + self._reason(value, "", status, said)))
            else:
                self._add(Failure(BROKE_OFF + (said or kind)))

    def _reason(self, value: Mapping[str, Json], error: str, status: int, said: str = "") -> str:
        wait = f"retry after {self._asked_to_wait} s" if error == _RATE_LIMIT and self._asked_to_wait else ""
        more = [part for part in (error, f"status {status}" if status else "", wait) if part]
        said = said or text_at(value, "message")
        about = f"({', '.join(more)})" if more else ""
        return " ".join(part for part in (said, about) if part) or "it did not say why"

    def _agent(self, value: Mapping[str, Json]) -> str:
        """The sub-agent that a line is of; empty for the agent itself."""
        call = text_at(value, "parent_tool_use_id")
        return self._agents.get(call, "sub-agent") if call else ""


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({times})" for name, times in sorted(counts.items()))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _NOTE_CHARS else text[: _NOTE_CHARS - 3] + "..."
