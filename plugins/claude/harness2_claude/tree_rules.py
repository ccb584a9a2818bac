"""What is well-formed for the surface, and yet Claude Code would take otherwise than it is meant, without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from harness2_core.api import HarnessTree

from .surface import ALWAYS_ON, SETTINGS

_IMPORT: Final = re.compile(r"(?:^|(?<=\s))@((?:~|\.{0,2})/[^\s`]+|(?:\.claude|scripts)/[^\s`]+)")
"""A path after an at sign: Claude Code puts that file into the context, from wherever it lies."""
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ANY: Final = ("", "*")


def problems(tree: HarnessTree) -> tuple[str, ...]:
    return (*_imports(tree), *_hooks(tree))


def _imports(tree: HarnessTree) -> Iterator[str]:
    for found in dict.fromkeys(_IMPORT.findall(_CODE.sub("", tree.files.get(ALWAYS_ON, "")))):
        yield (
            f"{ALWAYS_ON}: '@{found}' makes Claude Code read that file into the context, past the cap and from outside "
            "the harness; write the text itself, or name the path without '@'"
        )


def _hooks(tree: HarnessTree) -> Iterator[str]:
    """A hook that breaks these makes Claude Code pass over the whole file."""
    for event, entries in _events(tree).items():
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            where = f"{SETTINGS}: {event}[{index}]"
            if not _matches(entry.get("matcher", "")):
                yield f"{where}: its matcher is no regular expression, so its hooks would never run"
            commands = entry.get("hooks")
            for command in commands if isinstance(commands, list) else ():
                seconds = command.get("timeout", 1) if isinstance(command, dict) else 1
                if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
                    yield f"{where}: 'timeout' must be a number of seconds, without quotes"


def _events(tree: HarnessTree) -> dict[str, object]:
    """Empty unless the file has the form that the surface asks for, and tells of itself."""
    try:
        value = json.loads(tree.files.get(SETTINGS, "{}"))
    except (ValueError, RecursionError):
        return {}
    hooks = value.get("hooks") if isinstance(value, dict) else None
    return hooks if isinstance(hooks, dict) else {}


def _matches(matcher: object) -> bool:
    if matcher in _ANY:
        return True
    try:
        return isinstance(matcher, str) and bool(re.compile(matcher))
    except (re.error, RecursionError, OverflowError):
        return False
