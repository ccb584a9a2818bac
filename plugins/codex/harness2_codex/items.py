"""Items of Codex's event stream as events of the trajectory: what each kind tells, in full.

`events_of` takes the last state of an item. A kind that is not known here, or that lacks what it is known for, becomes
an `Unknown` with all its text.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from harness2_agents.stream import Json, as_text, list_at, object_at, text_at, value_at

from harness2_core.api import Action, Assistant, Event, FileChange, Observation, Reasoning, Unknown

Item = Mapping[str, Json]

_SHELLS: Final = ("sh", "bash", "zsh", "dash")
_FAILED: Final = ("failed", "declined")


def events_of(item: Item) -> tuple[Event, ...]:
    kind = text_at(item, "type")
    match kind:
        case "agent_message" if text_at(item, "text"):
            return (Assistant(text_at(item, "text")),)
        case "reasoning" if text_at(item, "text"):
            return (Reasoning(text_at(item, "text")),)
        case "command_execution" if text_at(item, "command"):
            return (Action("shell", _command(text_at(item, "command"))), _printed(item))
        case "file_change" if list_at(item, "changes"):
            return _changes(item)
        case "mcp_tool_call" if text_at(item, "tool"):
            server = text_at(item, "server")
            name = f"{server}.{text_at(item, 'tool')}" if server else text_at(item, "tool")
            return (Action(name, text_at(item, "arguments")), _answered(item))
        case "collab_tool_call" if text_at(item, "tool"):
            return _delegated(item)
        case "web_search" if text_at(item, "query"):
            return (Action("web_search", text_at(item, "query")),)
        case "todo_list" if list_at(item, "items"):
            return (Action("todo_list", "\n".join(_step(step) for step in list_at(item, "items"))),)
        case _:
            return (Unknown(kind or "item without a type", as_text(dict(item))),)


def is_open(item: Item) -> bool:
    """Whether it had not ended when this was said of it."""
    return text_at(item, "status") == "in_progress"


def _command(command: str) -> str:
    """What the model asked for, without the shell that Codex puts around it."""
    try:
        parts = shlex.split(command)
    except ValueError:
        return command
    wrapped = len(parts) == 3 and parts[0].rpartition("/")[2] in _SHELLS and parts[1] in ("-c", "-lc")
    return parts[2] if wrapped else command


def _printed(item: Item) -> Observation:
    output, code, status = text_at(item, "aggregated_output"), value_at(item, "exit_code"), text_at(item, "status")
    bad = status in _FAILED or code not in (None, 0)
    ends = [output.rstrip("\n")] if output.strip() else []
    if code not in (None, 0):
        ends.append(f"exit code {as_text(code)}")
    elif bad:
        ends.append(f"the command {'was declined' if status == 'declined' else status}")
    if is_open(item):
        ends.append("(it had not ended when the agent did)")
    return Observation("\n".join(ends), bad)


def _changes(item: Item) -> tuple[Event, ...]:
    """The stream names files and what became of them; a diff only where a version of Codex tells one."""
    changes = list_at(item, "changes")
    told = "\n".join(f"{text_at(change, 'kind') or 'change'} {text_at(change, 'path')}" for change in changes)
    action = Action("apply_patch", told)
    if text_at(item, "status") in _FAILED:
        return (action, Observation(_message(item) or "the patch was not applied", error=True))
    diffs = [
        (text_at(change, "path"), text_at(change, "diff") or text_at(change, "unified_diff")) for change in changes
    ]
    return (action, *(FileChange(path, diff) for path, diff in diffs))


def _answered(item: Item) -> Observation:
    """Of an MCP tool: its texts, else its whole result as JSON."""
    if text_at(item, "status") in _FAILED or object_at(item, "error"):
        return Observation(_message(item) or "the call failed", error=True)
    texts = [text_at(part, "text") for part in list_at(item, "result", "content")]
    return Observation("\n".join(text for text in texts if text) or text_at(item, "result"))


def _delegated(item: Item) -> tuple[Event, ...]:
    """Work with sub-agents: what they are told, and their states with the last word of each."""
    receivers = ", ".join(as_text(thread) for thread in list_at(item, "receiver_thread_ids"))
    action = Action(text_at(item, "tool"), text_at(item, "prompt") or receivers)
    states = [
        ": ".join(part for part in (thread, text_at(state, "status"), text_at(state, "message")) if part)
        for thread, state in object_at(item, "agents_states").items()
    ]
    bad = text_at(item, "status") in _FAILED
    return (action, Observation("\n".join(states) or (_message(item) if bad else receivers), bad))


def _message(item: Item) -> str:
    return text_at(item, "error", "message") or text_at(item, "error")


def _step(step: Json) -> str:
    done = value_at(step, "completed") is True
    return f"[{'x' if done else ' '}] {text_at(step, 'text') or as_text(step)}"
