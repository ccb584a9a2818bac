"""Parts of messages as events: what a tool was given and answered, and which files it says it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness2_agents.stream import Json, as_text, count_at, list_at, object_at, text_at

from harness2_core.api import Action, FileChange, Observation

Block = Mapping[str, Json]
"""One part of a message's content."""

_WRITERS: Final[Mapping[str, str]] = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tool -> the field of its input that names the file."""


def action(call: Block, agent: str = "") -> Action:
    """A tool call with its whole input; `agent` is the sub-agent that made it, empty for the agent itself."""
    name = text_at(call, "name") or "a tool without a name"
    return Action(f"{agent}: {name}" if agent else name, _given(name, object_at(call, "input")))


def observation(result: Block) -> Observation:
    return Observation(_said(result.get("content")), result.get("is_error") is True)


def changes(call: Block, told: Json) -> Iterator[FileChange]:
    """Of a call that succeeded; `told` is what the stream tells of its result beside its text."""
    name, given = text_at(call, "name"), object_at(call, "input")
    if name in _WRITERS:
        path = text_at(told, "filePath") or text_at(given, _WRITERS[name])
        yield FileChange(path, _patch(path, told) or _written(path, given))


def _given(name: str, given: Block) -> str:
    """JSON; a shell command as the shell reads it, which people and models read best."""
    if name == "Bash" and set(given) in ({"command"}, {"command", "description"}):
        about = " ".join(text_at(given, "description").split())
        return (f"# {about}\n" if about else "") + text_at(given, "command")
    return as_text(dict(given))


def _said(content: Json) -> str:
    """A result is a text, or a list of parts of which some are no text."""
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return "" if content is None else as_text(content)


def _part(part: Json) -> str:
    match text_at(part, "type"):
        case "text":
            return text_at(part, "text")
        case "image" | "document" as kind:
            media = text_at(part, "source", "media_type")
            return f"[{kind}{f' {media}' if media else ''}]"  # bytes in base64 say nothing to a reader
        case _:
            return as_text(part)


def _patch(path: str, told: Json) -> str:
    """The diff that the CLI tells; empty for a new file and where there is none."""
    hunks = []
    for hunk in list_at(told, "structuredPatch"):
        old = f"{count_at(hunk, 'oldStart')},{count_at(hunk, 'oldLines')}"
        new = f"{count_at(hunk, 'newStart')},{count_at(hunk, 'newLines')}"
        lines = "".join(f"{line if isinstance(line, str) else as_text(line)}\n" for line in list_at(hunk, "lines"))
        hunks.append(f"@@ -{old} +{new} @@\n{lines}")
    return f"--- {path}\n+++ {path}\n{''.join(hunks)}" if hunks else ""


def _written(path: str, given: Block) -> str:
    """What the call itself says: a whole file, or one text in the place of another."""
    new = [*text_at(given, "content").splitlines()]
    if new:
        return f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,{len(new)} @@\n" + _marked("+", new)
    before, after = text_at(given, "old_string"), text_at(given, "new_string") or text_at(given, "new_source")
    lines = _marked("-", before.splitlines()) + _marked("+", after.splitlines())
    return f"--- {path}\n+++ {path}\n@@ @@\n{lines}" if lines else ""


def _marked(sign: str, lines: list[str]) -> str:
    return "".join(f"{sign}{line}\n" for line in lines)
