"""Errors in a transcript, as kinds: two lines that differ in numbers and quoted values only are one kind."""

from __future__ import annotations

import re
from typing import Final

_ERROR_BLOCK: Final = re.compile(
    r"^\[(?:OBSERVATION ERROR|ERROR)\].*\n"
    r"((?:(?!\[(?:ASSISTANT|REASONING|ACTION|OBSERVATION|ERROR|FILE CHANGE|UNKNOWN|NOTE)\b).*(?:\n|\Z))*)",
    re.MULTILINE,
)  # a block runs to the next tag; the renderer quotes anything else that looks like one
_VALUE: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBER: Final = re.compile(r"\d+(?:[.,\-:]\d+)*")


def error_kinds(transcript: str) -> frozenset[str]:
    """Lines under the transcript's error tags, without what varies. Lines of code in a traceback are left out."""
    kinds = set()
    for block in _ERROR_BLOCK.findall(transcript):
        for line in block.splitlines():
            if line.strip() and not line.startswith((" ", "\t", "Traceback ")):
                kinds.add(_NUMBER.sub("0", _VALUE.sub("'…'", line.strip())))
    return frozenset(kinds)
