"""Turns of a scripted model, and what it was asked: values, whatever protocol they are spoken in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from harness2_core.api import FrozenMap
from harness2_core.model.canonical import Json

from . import model_reading

Api: TypeAlias = Literal["chat", "responses", "messages"]
Event: TypeAlias = tuple[str, Mapping[str, Json]]
"""Of a stream: the event's name, empty where the protocol has none, and its data."""

_PIECE: Final = re.compile(r"\S+\s*|\s+")
_PIECE_OF_ARGUMENTS: Final = 12


@frozen
class ToolCall:
    """`arguments` is JSON text, so that a script can also get it wrong. `tool_call` makes one from values."""

    name: str
    arguments: str = "{}"
    namespace: str = ""
    """Of the Responses API: the group that a tool is in, as some agents offer theirs."""
    custom: bool = False
    """Of the Responses API: a tool that takes any text; `arguments` is that text."""


def tool_call(name: str, /, **arguments: Json) -> ToolCall:
    """A call of the tool `name` with these arguments, as JSON."""
    return ToolCall(name, json.dumps(arguments))


@frozen
class Turn:
    """What the model says once, or how it fails."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 10
    output_tokens: int = 5
    status: int = 200
    """Another one is an error in the words of the protocol, with `text` as its message."""
    retry_after: int | None = None
    """Seconds, told with an error."""
    cut_after: int | None = None
    """The connection breaks after so many events of a stream; a reply that is not streamed breaks in the middle."""
    wait_seconds: float = 0.0
    """Before the first byte."""
    reasoning: str = ""
    """Not of the chat API: thinking before everything else."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    """Not of the chat API. Neither is part of `input_tokens` here; the Responses API adds them when it counts input."""
    stop: str = ""
    """Not of the chat API: why it stopped, when that is not the usual: `refusal` or `max_tokens`, or of the Responses
    API, whose answer is then incomplete, `content_filter` or `max_output_tokens`."""

    @property
    def pieces(self) -> list[str]:
        """The text as a stream brings it."""
        return _PIECE.findall(self.text)


def pieces_of(arguments: str) -> list[str]:
    """A call's arguments as a stream brings them, cut anywhere."""
    size = _PIECE_OF_ARGUMENTS
    return [arguments[start : start + size] for start in range(0, len(arguments), size)]


def rate_limited(retry_after: int | None = 1) -> Turn:
    """Answers 429; `retry_after` are the seconds in its header, `None` leaves that out."""
    return Turn("slow down", status=429, retry_after=retry_after)


def failing(status: int = 500) -> Turn:
    """Answers with an error of this status."""
    return Turn("an error that was scripted", status=status)


def _texts(items: Mapping[str, str]) -> FrozenMap[str]:
    return FrozenMap(items)


@frozen
class Asked:
    """One request as it came. Keys in headers are masked: a record of a test is no place for them."""

    api: Api
    headers: FrozenMap[str] = field(converter=_texts)
    body: Mapping[str, Json]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def text(self) -> str:
        """Everything that is said to the model, one text a line or more, whatever the protocol."""
        return "\n".join(model_reading.texts(self.body))

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that it may call."""
        return tuple(model_reading.tools(self.body))

    @property
    def results(self) -> tuple[str, ...]:
        """What tools answered so far; empty at the first request of a conversation."""
        return tuple(model_reading.results(self.body))

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True
