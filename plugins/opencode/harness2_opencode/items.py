"""Parts of messages as events: what a tool was given and answered, and which files it says it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness2_agents.stream import Json, as_text, list_at, object_at, text_at, value_at

from harness2_core.api import Action, Event, FileChange, Observation

_INVALID: Final = "invalid"
"""The tool that OpenCode puts in the place of a call it could not make out."""


def begun(part: Mapping[str, Json], agent: str = "") -> Action:
    """A call of a tool; `agent` is the sub-agent that made it, empty for the agent itself."""
    tool, given = text_at(part, "tool"), value_at(part, "state", "input")
    return Action(f"{agent}: {tool}" if agent else tool, "" if given is None else as_text(given))


def tool_events(part: Mapping[str, Json], agent: str = "") -> Iterator[Event]:
    """Of a call that has ended."""
    tool, state = text_at(part, "tool"), object_at(part, "state")
    yield begun(part, agent)
    failed = text_at(state, "status") == "error"
    yield Observation(text_at(state, "error") if failed else text_at(state, "output"), failed or tool == _INVALID)
    if not failed:
        yield from _changes(tool, state)


def _changes(tool: str, state: Mapping[str, Json]) -> Iterator[FileChange]:
    match tool:
        case "write":
            yield FileChange(text_at(state, "input", "filePath"), _written(state))
        case "edit":
            yield FileChange(text_at(state, "input", "filePath"), _bare(text_at(state, "metadata", "diff")))
        case "apply_patch":
            for file in list_at(state, "metadata", "files"):
                yield FileChange(text_at(file, "filePath"), _bare(text_at(file, "patch") or text_at(file, "diff")))


def _written(state: Mapping[str, Json]) -> str:
    """OpenCode tells no diff of a file that was written as a whole; what stood there before is not in the stream."""
    path, lines = text_at(state, "input", "filePath"), text_at(state, "input", "content").splitlines()
    if not lines:
        return ""
    if value_at(state, "metadata", "exists") is False:
        head = f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,{len(lines)} @@\n"
    else:
        head = f"--- {path}\n+++ {path}\n@@ the whole file was replaced @@\n"
    return head + "".join(f"+{line}\n" for line in lines)


def _bare(diff: str) -> str:
    """A diff without the two lines that name the file once more."""
    head, separator, rest = diff.partition("\n===")
    return rest.partition("\n")[2] if separator and head.startswith("Index: ") else diff
