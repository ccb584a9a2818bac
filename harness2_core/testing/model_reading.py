"""What a request to a model says, read from its body alike for all protocols: a script can go by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness2_core.model.canonical import Json

_SAID: Final = ("system", "instructions", "messages", "input")
"""Where the protocols have what is said to the model, as against tools and options."""
_RESULTS: Final = ("function_call_output", "custom_tool_call_output", "tool_result")


def texts(body: Mapping[str, Json]) -> Iterator[str]:
    """Every text that is said to the model, in order: instructions, what each side said, calls and their results."""
    for name in _SAID:
        yield from _texts(body.get(name))


def tools(body: Mapping[str, Json]) -> Iterator[str]:
    """Names of the tools that the model may call."""
    listed = body.get("tools")
    for tool in listed if isinstance(listed, list) else ():
        if not isinstance(tool, Mapping):
            continue
        function = tool.get("function")
        name = function.get("name") if isinstance(function, Mapping) else tool.get("name", tool.get("type"))
        if isinstance(name, str):
            yield name


def results(body: Mapping[str, Json]) -> list[str]:
    """What tools answered, in order: empty when the model is asked for the first time."""
    found = []
    for name in ("messages", "input"):
        listed = body.get(name)
        for item in listed if isinstance(listed, list) else ():
            found += [" ".join(_texts(part)) for part in _result_parts(item)]
    return found


def _result_parts(item: Json) -> Iterator[Json]:
    if not isinstance(item, Mapping):
        return
    if item.get("role") == "tool":
        yield item.get("content")
    elif item.get("type") in _RESULTS:
        yield item.get("output", item.get("content"))
    else:
        content = item.get("content")
        for part in content if isinstance(content, list) else ():
            yield from _result_parts(part)


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case Mapping():
            for name, item in value.items():
                if name not in ("role", "type", "id", "call_id", "tool_call_id", "tool_use_id"):
                    yield from _texts(item)
