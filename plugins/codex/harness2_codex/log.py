"""Lines of Codex's own log, which stand between the events of its stream.

Events tell neither of tools that were blocked, or refused, nor what sub-agents used, and of an agent that was killed
they tell no tokens at all; the log tells all three. Its lines are read one by one: what is none of them is `None`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import frozen

FILTER: Final = "off,codex_core::tools::router=error,codex_otel.trace_safe=info"
"""Value of `RUST_LOG`: tools that failed, and what each answer of the model took. No prompts, no outputs."""
STEPS_FILTER: Final = f"{FILTER},codex_core::session::turn=trace"
"""With the end of each step, which `steps.sh` counts."""


@frozen
class Answered:
    """The model answered, in this conversation: that of the agent, or of a sub-agent."""

    conversation: str
    model: str
    counts: Mapping[str, int]
    """Tokens by the names that events use: `input_tokens` includes what was cached."""


@frozen
class ToolFailed:
    """A tool that did not run, or failed before it did anything: what the model was told. May go on below."""

    text: str


@frozen
class ToolDone:
    """A tool's result is with the model. Comes at once after its `ToolFailed`."""

    conversation: str
    tool: str


@frozen
class Other:
    """A line of the log that says nothing of these."""


Entry: TypeAlias = Answered | ToolFailed | ToolDone | Other

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_LINE: Final = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z +(?:TRACE|DEBUG|INFO|WARN|ERROR) +"
    r"(?:|.*?: )(?P<target>codex_\w+(?:[:.]+\w+)*): (?P<text>.*)"  # spans, as far as the filter shows any, come first
)
_FIELD: Final = re.compile(r'(?<![^\s])([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)')
_ROUTER: Final = "codex_core::tools::router"
_COUNTS: Final = {
    "input_token_count": "input_tokens",
    "cached_token_count": "cached_input_tokens",
    "cache_write_token_count": "cache_write_input_tokens",
    "output_token_count": "output_tokens",
    "reasoning_token_count": "reasoning_output_tokens",
}


def entry_in(line: str) -> Entry | None:
    """The entry that a line is; `None` when it is no line of the log."""
    found = _LINE.match(_COLOUR.sub("", line))
    if found is None:
        return None
    if found["target"] == _ROUTER:
        return ToolFailed(found["text"].removeprefix("error="))
    fields = {name: value.strip('"') for name, value in _FIELD.findall(found["text"])}
    match fields.get("event.name"):
        case "codex.sse_event" if "input_token_count" in fields:
            return Answered(
                fields.get("conversation.id", ""),
                fields.get("model", ""),
                {kind: _count(fields.get(name, "")) for name, kind in _COUNTS.items()},
            )
        case "codex.tool_result_ready":
            return ToolDone(fields.get("conversation.id", ""), fields.get("tool_name", ""))
        case _:
            return Other()


def _count(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0
