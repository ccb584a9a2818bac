"""`/v1/messages`: a turn as one message, or as the events of its content blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from harness2_core.model.canonical import Json

from .model_turns import Asked, Event, Turn, pieces_of

_SIGNED: Final = "c2lnbmVk"
"""The signature of thinking: nobody here verifies it."""


def whole(asked: Asked, turn: Turn, number: int) -> Mapping[str, Json]:
    content: list[Json] = (
        [{"type": "thinking", "thinking": turn.reasoning, "signature": _SIGNED}] if turn.reasoning else []
    )
    content += [{"type": "text", "text": turn.text}] if turn.text else []
    for index, call in enumerate(turn.calls):
        content.append({**_tool(turn, number, index), "input": _input(call.arguments)})
    message = {**_message(asked, number), "content": content, "stop_reason": _reason(turn)}
    return {**message, "usage": {**_read(turn), "output_tokens": turn.output_tokens}}


def events(asked: Asked, turn: Turn, number: int) -> Iterator[Event]:
    begun: dict[str, Json] = {**_read(turn), "output_tokens": 1}
    yield _event("message_start", message={**_message(asked, number), "usage": begun})
    blocks: list[tuple[dict[str, Json], str, str, list[str]]] = []
    if turn.reasoning:
        thought: dict[str, Json] = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((thought, "thinking_delta", "thinking", [turn.reasoning]))
    if turn.text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", turn.pieces))
    for index, call in enumerate(turn.calls):
        tool: dict[str, Json] = {**_tool(turn, number, index), "input": {}}
        blocks.append((tool, "input_json_delta", "partial_json", pieces_of(call.arguments)))
    for index, (block, kind, key, pieces) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=block)
        if index == 0:
            yield _event("ping")
        for piece in pieces:
            yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
        if block["type"] == "thinking":
            yield _event("content_block_delta", index=index, delta={"type": "signature_delta", "signature": _SIGNED})
        yield _event("content_block_stop", index=index)
    ended: dict[str, Json] = {"stop_reason": _reason(turn), "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": turn.output_tokens})
    yield _event("message_stop")


def error(turn: Turn) -> Mapping[str, Json]:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = "overloaded_error" if turn.status == 529 else kinds.get(turn.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": turn.text}}


def _read(turn: Turn) -> dict[str, Json]:
    cached = {"cache_read_input_tokens": turn.cache_read_tokens, "cache_creation_input_tokens": turn.cache_write_tokens}
    return {"input_tokens": turn.input_tokens, **{name: count for name, count in cached.items() if count}}


def _event(kind: str, **data: Json) -> Event:
    return kind, {"type": kind, **data}


def _message(asked: Asked, number: int) -> dict[str, Json]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _tool(turn: Turn, number: int, index: int) -> dict[str, Json]:
    return {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": turn.calls[index].name}


def _input(arguments: str) -> Json:
    """A call that is no JSON has no form of its own here: its text stands in the place of the object."""
    try:
        value: Json = json.loads(arguments)
    except ValueError:
        return arguments
    return value


def _reason(turn: Turn) -> str:
    return turn.stop or ("tool_use" if turn.calls else "end_turn")
