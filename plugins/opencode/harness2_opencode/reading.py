"""The stream of `opencode run --format json`, with the observer's lines in it, as events.

Pure and tolerant: whatever of the stream is there is read; what is not understood is kept, and counted in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import define, field
from harness2_agents.stream import Json, Record, as_text, count_at, object_at, records, text_at, value_at

from harness2_core.api import Action, Assistant, Event, Failure, Observation, Reasoning, Unknown

from .items import begun, tool_events
from .spent import Spent

PROVIDER_FAILED: Final = "the model could not be asked: "
"""How the text of a `Failure` begins when the provider, or the way to it, was the matter."""
UNENDED: Final = "(it had not ended when the agent did)"
OUT_OF_STEPS: Final = "the agent was stopped at its limit of steps"
_ABORTED: Final = "MessageAbortedError"
_WITHHELD: Final = "content-filter"
_CUT_SHORT: Final = "length"


@define
class Reading:
    """What was read so far."""

    events: list[Event] = field(factory=list)
    spent: Spent = field(factory=Spent)
    _stopped: str = ""
    """Why the observer ended the run. Its lines come at once, those of the CLI lag behind."""
    _waiting: str = ""
    """Why the provider is being asked again, until it answers."""
    _waiting_since: int = 0
    """Milliseconds, on the clock of the parts of messages."""
    _running: dict[str, Action] = field(factory=dict)
    """Calls of tools that began and have not ended yet."""
    _counts: Counter[str] = field(factory=Counter)
    _unknown: Counter[str] = field(factory=Counter)
    _broken: dict[str, str] = field(factory=dict)

    def take(self, record: Record) -> None:
        if record.value is None:
            self._counts["cut" if record.cut else "junk"] += 1
            self.events.append(Unknown("cut off" if record.cut else "line", record.text))
            return
        kind = text_at(record.value, "type")
        match kind:
            case "harness2.began":
                self.spent.model = text_at(record.value, "model")
            case "harness2.plugin_failed":
                self._broken[text_at(record.value, "plugin")] = text_at(record.value, "error")
            case "harness2.running":
                part = object_at(record.value, "part")
                self._running[text_at(part, "callID")] = begun(part, text_at(record.value, "agent"))
            case "harness2.retry":
                self._counts["retry"] += 1
                self._waiting = text_at(record.value, "message")
                self._waiting_since = count_at(record.value, "at")
            case "harness2.gave_up":
                self._stopped = PROVIDER_FAILED + _asked_to_wait(record.value)
            case "harness2.out_of_steps":
                self._stopped = f"{OUT_OF_STEPS}, {count_at(record.value, 'steps')}"
            case "harness2.sub_agent":
                self._part(text_at(record.value, "event"), record.value, text_at(record.value, "agent") or "sub-agent")
            case _:
                self._part(kind, record.value)

    def finished(self, *, well: bool) -> tuple[Event, ...]:
        """All events; calls and a wait for the provider that never ended are the last of them.

        `well`: the CLI ended as if all were well, so that it waits for nobody.
        """
        events = list(self.events)
        for call in self._running.values():
            events += [call, Observation(UNENDED)]
        waiting = PROVIDER_FAILED + self._waiting if self._waiting and not well else ""
        last = self._stopped or waiting
        return (*events, Failure(last)) if last else tuple(events)

    def notes(self) -> Iterator[str]:
        for path, error in self._broken.items():
            yield f"a plugin of the harness did not load: {path.rpartition('/')[2]}: {error}"
        if self._counts["retry"]:
            yield f"the provider was asked again, times: {self._counts['retry']}"
        if self._counts[_CUT_SHORT]:
            yield f"answers cut at the limit of output tokens: {self._counts[_CUT_SHORT]}"
        if self._unknown:
            yield f"events of unknown kinds: {', '.join(f'{n} × {kind}' for kind, n in sorted(self._unknown.items()))}"
        if self._counts["junk"]:
            yield f"lines that are no events: {self._counts['junk']}"
        if self._counts["cut"]:
            yield "the stream ended in the middle of an event"
        if self.spent.steps and not self.spent.model:
            yield "what sub-agents used was not told, and is not counted"

    def _part(self, kind: str, value: Mapping[str, Json], agent: str = "") -> None:
        part = object_at(value, "part")
        match kind:
            case "text":
                # Only the agent itself answers; what sub-agents say reaches it as the answer of a tool.
                text = text_at(part, "text")
                self._went_on(part, Reasoning(f"{agent}: {text}") if agent else Assistant(text))
            case "reasoning":
                text = text_at(part, "text")
                self._went_on(part, Reasoning(f"{agent}: {text}" if agent else text))
            case "tool_use":
                self._running.pop(text_at(part, "callID"), None)
                self._went_on(part, *tool_events(part, agent))
            case "step_start":
                pass
            case "step_finish":
                self.spent.step(part)
                reason = text_at(part, "reason")
                self._counts[reason] += reason == _CUT_SHORT
                if reason == _WITHHELD and not agent:
                    self.events.append(Failure(f"{PROVIDER_FAILED}its answer was withheld (content filter)"))
            case "error":
                self._error(object_at(value, "error"), agent)
            case _:
                self._unknown[kind] += 1
                self.events.append(Unknown(kind, as_text(dict(value))))

    def _error(self, error: Mapping[str, Json], agent: str) -> None:
        name = text_at(error, "name")
        if name == _ABORTED and self._stopped:
            return  # said already, with its reason
        self._waiting = ""
        data = object_at(error, "data")
        said = text_at(data, "message") or text_at(error, "message") or as_text(dict(error))
        more = [f"status {status}" for status in [value_at(data, "statusCode")] if isinstance(status, int)]
        after = text_at(data, "responseHeaders", "retry-after")
        more += [f"retry after {after} s"] if after else []
        told = f"{name}: {said}" + (f" ({'; '.join(more)})" if more else "")
        self.events.append(Observation(f"{agent}: {told}", error=True) if agent else Failure(PROVIDER_FAILED + told))

    def _went_on(self, part: Mapping[str, Json], *events: Event) -> None:
        ended = count_at(part, "time", "end") or count_at(part, "state", "time", "end")
        if not ended or ended > self._waiting_since:
            self._waiting = ""
        self.events += events


def read(stdout: Iterable[bytes]) -> Reading:
    reading = Reading()
    for record in records(stdout):
        reading.take(record)
    return reading


def _asked_to_wait(value: Mapping[str, Json]) -> str:
    seconds = -(-count_at(value, "wait_ms") // 1000)
    return f"{text_at(value, 'message')} (rate limit: retry after {seconds} s)"
