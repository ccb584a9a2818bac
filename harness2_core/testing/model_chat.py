"""`/v1/chat/completions`: a turn as one object, or as chunks that end with usage (when asked for) and `[DONE]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness2_core.model.canonical import Json

from .model_turns import Asked, Event, ToolCall, Turn, pieces_of


def whole(asked: Asked, turn: Turn, number: int) -> Mapping[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [_call(call, number, index) for index, call in enumerate(turn.calls)]
    choice: dict[str, Json] = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(turn)}
    return {**_head(asked, number, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def events(asked: Asked, turn: Turn, number: int) -> Iterator[Event]:
    head = _head(asked, number, "chat.completion.chunk")
    options = asked.body.get("stream_options")
    with_usage = isinstance(options, Mapping) and options.get("include_usage") is True
    tail: dict[str, Json] = {"usage": None} if with_usage else {}

    def chunk(delta: dict[str, Json], reason: str | None = None) -> Event:
        choice: dict[str, Json] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return "", {**head, "choices": [choice], **tail}

    yield chunk({"role": "assistant", "content": ""})
    if turn.reasoning:
        yield chunk({"reasoning_content": turn.reasoning})
    for piece in turn.pieces:
        yield chunk({"content": piece})
    for index, call in enumerate(turn.calls):
        begun = _call(ToolCall(call.name, ""), number, index)
        yield chunk({"tool_calls": [{"index": index, **begun}]})
        for piece in pieces_of(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _reason(turn))
    if with_usage:
        yield "", {**head, "choices": [], "usage": _usage(turn)}


def error(turn: Turn) -> Mapping[str, Json]:
    kind = {401: "invalid_request_error", 429: "rate_limit_error"}.get(turn.status, "server_error")
    return {"error": {"message": turn.text, "type": kind, "param": None, "code": None}}


def _head(asked: Asked, number: int, kind: str) -> dict[str, Json]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": asked.model}


def _call(call: ToolCall, number: int, index: int) -> dict[str, Json]:
    function: dict[str, Json] = {"name": call.name, "arguments": call.arguments}
    return {"id": f"call_{number}_{index}", "type": "function", "function": function}


def _reason(turn: Turn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _usage(turn: Turn) -> dict[str, Json]:
    read = turn.input_tokens + turn.cache_read_tokens
    cached: dict[str, Json] = {"prompt_tokens_details": {"cached_tokens": turn.cache_read_tokens}}
    return {
        "prompt_tokens": read,
        "completion_tokens": turn.output_tokens,
        "total_tokens": read + turn.output_tokens,
        **(cached if turn.cache_read_tokens else {}),
    }
