"""`/v1/responses`: a turn as one response of several output items, or as the events by which it grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness2_core.model.canonical import Json

from .model_turns import Asked, Event, Turn, pieces_of


def whole(asked: Asked, turn: Turn, number: int) -> Mapping[str, Json]:
    return _response(asked, turn, number, _status(turn), [*_items(turn, number)])


def events(asked: Asked, turn: Turn, number: int) -> Iterator[Event]:
    for sequence, (kind, data) in enumerate(_grown(asked, turn, number)):
        yield kind, {"type": kind, "sequence_number": sequence, **data}


def error(turn: Turn) -> Mapping[str, Json]:
    kind = {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(turn.status, "server_error")
    return {"error": {"message": turn.text, "type": kind, "param": None, "code": kind}}


def _grown(asked: Asked, turn: Turn, number: int) -> Iterator[Event]:
    begun: dict[str, Json] = {"response": _response(asked, turn, number, "in_progress", [])}
    yield "response.created", begun
    yield "response.in_progress", begun
    items = _items(turn, number)
    for index, item in enumerate(items):
        at: dict[str, Json] = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part: dict[str, Json] = {"type": "output_text", "annotations": [], "text": ""}
            full: dict[str, Json] = {**part, "text": turn.text}
            inside = {**at, "content_index": 0}
            yield _added(index, {**item, "status": "in_progress", "content": []})
            yield "response.content_part.added", {**inside, "part": part}
            for piece in turn.pieces:
                yield "response.output_text.delta", {**inside, "delta": piece}
            yield "response.output_text.done", {**inside, "text": turn.text}
            yield "response.content_part.done", {**inside, "part": full}
        elif item["type"] == "reasoning":
            summed = {**at, "summary_index": 0}
            yield _added(index, {**item, "summary": []})
            yield "response.reasoning_summary_part.added", {**summed, "part": {"type": "summary_text", "text": ""}}
            yield "response.reasoning_summary_text.delta", {**summed, "delta": turn.reasoning}
            yield "response.reasoning_summary_text.done", {**summed, "text": turn.reasoning}
        elif item["type"] == "custom_tool_call":
            given = str(item["input"])
            yield _added(index, {**item, "status": "in_progress", "input": ""})
            for piece in pieces_of(given):
                yield "response.custom_tool_call_input.delta", {**at, "delta": piece}
            yield "response.custom_tool_call_input.done", {**at, "input": given}
        else:
            arguments = str(item["arguments"])
            yield _added(index, {**item, "status": "in_progress", "arguments": ""})
            for piece in pieces_of(arguments):
                yield "response.function_call_arguments.delta", {**at, "delta": piece}
            yield "response.function_call_arguments.done", {**at, "arguments": arguments}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{_status(turn)}", {"response": _response(asked, turn, number, _status(turn), [*items])}


def _added(index: int, item: dict[str, Json]) -> Event:
    return "response.output_item.added", {"output_index": index, "item": item}


def _items(turn: Turn, number: int) -> list[dict[str, Json]]:
    items: list[dict[str, Json]] = []
    if turn.reasoning:
        summary: list[Json] = [{"type": "summary_text", "text": turn.reasoning}]
        items.append({"id": f"rs_{number}", "type": "reasoning", "summary": summary})
    if turn.text:
        part: dict[str, Json] = {"type": "output_text", "annotations": [], "text": turn.text}
        message: dict[str, Json] = {"type": "message", "role": "assistant", "content": [part]}
        items.append({"id": f"msg_{number}", "status": "completed", **message})
    for index, call in enumerate(turn.calls):
        said: dict[str, Json] = {"type": "function_call", "name": call.name, "arguments": call.arguments}
        if call.custom:
            said = {"type": "custom_tool_call", "name": call.name, "input": call.arguments}
        if call.namespace:
            said["namespace"] = call.namespace
        ids: dict[str, Json] = {"id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}"}
        items.append({**ids, "status": "completed", **said})
    return items


def _status(turn: Turn) -> str:
    return "incomplete" if turn.stop else "completed"


def _response(asked: Asked, turn: Turn, number: int, status: str, output: list[Json]) -> dict[str, Json]:
    sent = turn.input_tokens + turn.cache_read_tokens + turn.cache_write_tokens
    cached: dict[str, Json] = {"cached_tokens": turn.cache_read_tokens, "cache_write_tokens": turn.cache_write_tokens}
    usage: dict[str, Json] = {
        "input_tokens": sent,
        "input_tokens_details": cached,
        "output_tokens": turn.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + turn.output_tokens,
    }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": turn.stop} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": asked.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status == "in_progress" else usage,
    }
