"""Writes the streams beside it: all that `codex exec --json` is known to say, in invented runs.

    python make_streams.py [DIR]

Forms are those of Codex 0.171; words, ids and times are made up, so no machine and no person is in them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

MAIN = "00000000-0000-7000-8000-000000000001"
CHILD = "00000000-0000-7000-8000-000000000002"
USAGE = {
    "input_tokens": 1200,
    "cached_input_tokens": 900,
    "cache_write_input_tokens": 100,
    "output_tokens": 80,
    "reasoning_output_tokens": 30,
}
_LOGGED = {
    "input_token_count": "input_tokens",
    "output_token_count": "output_tokens",
    "cached_token_count": "cached_input_tokens",
    "cache_write_token_count": "cache_write_input_tokens",
    "reasoning_token_count": "reasoning_output_tokens",
}


def event(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


def item(number: int, kind: str, **fields: object) -> str:
    state = fields.pop("state", "completed")
    return event(f"item.{state}", item={"id": f"item_{number}", "type": kind, **fields})


def logged(text: str, level: str = " INFO", target: str = "codex_otel.trace_safe") -> str:
    return f"2026-01-02T03:04:05.678901Z {level} {target}: {text}"


def answered(counts: Mapping[str, int], thread: str = MAIN, model: str = "gpt-5.5") -> str:
    tokens = " ".join(f"{name}={counts[kind]}" for name, kind in _LOGGED.items())
    said = f'event.name="codex.sse_event" event.kind=response.completed {tokens} ttft_ms=3'
    return logged(f"{said} conversation.id={thread} app.version=0.171.0 model={model} slug={model}")


def within_spans(line: str) -> str:
    spans = (
        f'codex.turn_input{{conversation.id={MAIN} turn.id="1"}}:run_request{{model=a: b cwd=/workspace}}: codex_otel'
    )
    return line.replace("codex_otel", spans, 1)


def failed(text: str, tool: str = "exec_command") -> list[str]:
    done = f'event.name="codex.tool_result_ready" conversation.id={MAIN} call_id="call_1" tool_name="{tool}"'
    return [logged(f"error={text}", "ERROR", "codex_core::tools::router"), logged(done)]


def everything() -> list[str]:
    patch = [{"path": "/workspace/a.txt", "kind": "add"}, {"path": "/workspace/ü ☃.txt", "kind": "update"}]
    command: dict[str, object] = {"command": "/bin/bash -c 'ls \"a b\"; exit 3'"}
    call: dict[str, object] = {"server": "shelf", "tool": "find", "arguments": {"title": "Pebbles"}}
    delegate: dict[str, object] = {"tool": "spawn_agent", "sender_thread_id": MAIN, "prompt": "Count them."}
    return [
        "Reading prompt from stdin...",
        event("thread.started", thread_id=MAIN),
        item(0, "error", message="Model metadata for `some-model` not found. Defaulting to fallback metadata."),
        item(1, "error", message="`--dangerously-bypass-hook-trust` is enabled."),
        event("turn.started"),
        logged('event.name="codex.user_prompt" prompt_length=12'),
        item(2, "reasoning", text="**Looking**\nfirst"),
        item(3, "agent_message", text="I look at the files – ☃."),
        item(
            4,
            "command_execution",
            state="started",
            **command,
            aggregated_output="",
            exit_code=None,
            status="in_progress",
        ),
        item(4, "command_execution", **command, aggregated_output="a b\nno such\n", exit_code=3, status="failed"),
        within_spans(answered({**USAGE, "input_tokens": 500, "cached_input_tokens": 300})),
        *failed("Command blocked by PreToolUse hook: not here. Command: rm -rf kept"),
        *failed("apply_patch verification failed: Failed to find expected lines in a.txt:\nold\n", "apply_patch"),
        item(5, "todo_list", state="started", items=[{"text": "look", "completed": False}]),
        item(6, "file_change", changes=patch, status="completed"),
        item(
            5,
            "todo_list",
            state="updated",
            items=[{"text": "look", "completed": True}, {"text": "sort", "completed": False}],
        ),
        item(7, "mcp_tool_call", **call, result={"content": [{"type": "text", "text": "shelf 3"}]}, status="completed"),
        item(8, "mcp_tool_call", **call, error={"message": "the shelf is gone"}, status="failed"),
        item(9, "web_search", query="weight of pebbles"),
        item(10, "collab_tool_call", **delegate, receiver_thread_ids=[CHILD], agents_states={}, status="completed"),
        answered({**USAGE, "input_tokens": 1000, "cached_input_tokens": 0, "cache_write_input_tokens": 0}, CHILD),
        item(11, "collab_tool_call", tool="wait", agents_states={CHILD: {"status": "completed", "message": "seven"}}),
        item(12, "hologram", depth=3),
        event("account.changed", plan="other"),
        "a program said this",
        item(13, "agent_message", text="Seven pebbles."),
        answered({**USAGE, "input_tokens": 700, "cached_input_tokens": 600, "output_tokens": 0}),
        event("turn.completed", usage=USAGE),
    ]


def gave_up() -> list[str]:
    why = "unexpected status 503 Service Unavailable: busy, url: http://127.0.0.1:11811/v1/responses"
    return [
        event("thread.started", thread_id=MAIN),
        event("turn.started"),
        item(
            0, "command_execution", command="/bin/bash -c ls", aggregated_output="a\n", exit_code=0, status="completed"
        ),
        answered({**USAGE, "cached_input_tokens": 0, "cache_write_input_tokens": 0}),
        event("error", message=f"Reconnecting... 1/2 ({why})"),
        event("error", message=f"Reconnecting... 2/2 ({why})"),
        event("error", message=why),
        event("turn.failed", error={"message": why}),
    ]


def never_began() -> list[str]:
    return ["Error loading config.toml:", "/home/agent/.codex/config.toml:8:1: unknown configuration field `odd`"]


def odd_spacing() -> list[str]:
    """As another version might print it: spaces, key order, CRLF, NUL, a BOM, colours."""
    spaced = [
        json.dumps({"thread_id": MAIN, "type": "thread.started"}, indent=None, separators=(" , ", " : ")),
        "\ufeff"
        + json.dumps({"item": {"text": "hello", "type": "agent_message", "id": "x"}, "type": "item.completed"}),
        "\x00\x00" + event("turn.completed", usage={"input_tokens": 7, "output_tokens": 2}),
        answered(USAGE).replace("Z  INFO", "Z\x1b[0m \x1b[32m INFO\x1b[0m", 1),
    ]
    return [f"{line}\r" for line in spaced]


STREAMS = {f"{make.__name__}.txt": make for make in (everything, gave_up, never_began, odd_spacing)}


def main(directory: Path) -> None:
    for name, make in STREAMS.items():
        (directory / name).write_bytes("".join(f"{line}\n" for line in make()).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
