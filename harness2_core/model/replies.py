"""Reading replies: what a model meant, leniently, without guessing.

The last complete block wins, so an early draft does not beat the final answer. Ids are understood in backticks,
brackets, quotes, lower case or after "Candidate"; fields may span lines and be bold or bulleted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from .strategy import Choice, Edit, Lesson, Unusable

WHY_CHARS: Final = 2_000
"""Characters of a choice's reason that are kept."""

KEEP: Final = "KEEP_BASE"
NO_ENTRY: Final = "NO_ENTRY"

_CHOICE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*choice(?![\w-])", re.MULTILINE | re.IGNORECASE)
_WRAPPING: Final = " \t\r\n`'\"<>()[]{}*_.:“”‘’«»"
_VERDICTS: Final = ("helped", "hurt", "no observed effect", "confounded")
_FIELD: Final = r"^[ \t]*(?:(?:[-*+•]|#{1,6}|\d+[.)])[ \t]+)?[*_`]{0,3}(%s)[*_`]{0,3}[ \t]*[:：][*_`]{0,3}[ \t]*"


def block(text: str, tag: str) -> str | None:
    """The inside of the last complete `<tag>...</tag>`, or `None`."""
    span = _span(text, tag)
    return None if span is None else text[span[0] : span[1]].strip()


def choice_in(text: str, ids: Collection[str]) -> Choice:
    """The id in the last fenced `choice` block. `Unusable` says what is missing."""
    listed = ", ".join(sorted(ids, key=lambda id: (len(id), id)))
    answer = _last_choice(text)
    if answer is None:
        raise Unusable(f"it has no fenced block with the info string 'choice'; put one of {listed} into such a block")
    bare = re.sub(r"^(?:candidate|option|answer|choice)\b[\s:#]*", "", answer.strip(_WRAPPING), flags=re.IGNORECASE)
    bare = bare.strip(_WRAPPING)
    by_fold = {id.casefold(): id for id in ids}
    if bare.casefold() not in by_fold:
        raise Unusable(f"its choice block says {answer[:80]!r}, which is none of {listed}")
    return Choice(by_fold[bare.casefold()], (block(text, "why") or "")[:WHY_CHARS])


def notes_in(text: str) -> str:
    """The decision notes of a stage's reply: the last `<notes>` block, else the whole reply."""
    found = block(text, "notes")
    return text.strip() if found is None else found


def keeps_base(text: str) -> bool:
    """Whether the reply says, on a line of its own, to keep what was given."""
    return any(_is_line(KEEP, line) for line in text.splitlines())


def lesson_in(text: str) -> Lesson | None:
    """The lesson in a reflection; `None` when it declines. `Unusable` when it has neither lesson nor `NO_ENTRY`.

    Whichever comes last counts: an `<experience>` block, or `NO_ENTRY` on a line of its own.
    """
    edits = edits_in(text)
    span = _span(text, "experience")
    rest = text if span is None else text[span[1] :]
    if any(_is_line(NO_ENTRY, line) for line in rest.splitlines()):
        return None
    if span is None:
        raise Unusable(f"it has neither an <experience> block nor the line {NO_ENTRY}")
    inside = text[span[0] : span[1]]
    if re.fullmatch(rf"\W*{NO_ENTRY}\W*", inside, re.IGNORECASE):
        return None
    values = fields_in(inside, ("cue", "lesson", "evidence", "confidence"))
    missing = [name for name in ("cue", "lesson", "evidence") if not values.get(name)]
    if missing:
        raise Unusable(f"its <experience> block lacks {', '.join(missing)}; write each as '{missing[0]}: ...'")
    return Lesson(values["cue"], values["lesson"], values["evidence"], edits, values.get("confidence", ""))


def edits_in(text: str) -> tuple[Edit, ...]:
    """The rows of the last `<edits>` block; rows that name no component are left out."""
    inside = block(text, "edits") or ""
    names = ("component", "candidates", "change", "observed", "verdict")
    starts = [found.start() for found in re.finditer(_FIELD % "component", inside, re.MULTILINE | re.IGNORECASE)]
    rows = [inside[start:end] for start, end in zip(starts, [*starts[1:], len(inside)], strict=False)]
    parsed = [fields_in(row, names) for row in rows]
    return tuple(
        Edit(
            row["component"],
            row.get("change", ""),
            row.get("candidates", ""),
            row.get("observed", ""),
            _verdict(row.get("verdict", "")),
        )
        for row in parsed
        if row.get("component")
    )


def fields_in(text: str, names: Collection[str]) -> Mapping[str, str]:
    """`name: value` fields, bold or bulleted or plain; a value runs to the next field. The last one of a name wins."""
    pattern = re.compile(_FIELD % "|".join(names), re.MULTILINE | re.IGNORECASE)
    found = list(pattern.finditer(text))
    values: dict[str, str] = {}
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        value = "\n".join(line.strip() for line in text[match.end() : end].strip().splitlines())
        for mark in ("**", "__"):  # of a line that is bold as a whole
            if value.endswith(mark) and value.count(mark) % 2:
                value = value.removesuffix(mark).rstrip()
        values[match.group(1).lower()] = value
    return values


def _span(text: str, tag: str) -> tuple[int, int] | None:
    """Where the inside of the last complete `<tag>...</tag>` lies; a closing tag without an opening one is text."""
    found = start = None
    for token in re.finditer(rf"<(/?){tag}\s*>", text, re.IGNORECASE):
        if not token.group(1):
            start = token.end()
        elif start is not None:
            found, start = (start, token.start()), None
    return found


def _last_choice(text: str) -> str | None:
    """The inside of the last closed block; one that the next opening fence cuts off was never closed."""
    end = len(text)
    for opening in reversed(list(_CHOICE.finditer(text))):
        inside = text[opening.end() : end]
        closed = inside.find(opening.group(1))
        if closed >= 0:
            return inside[:closed].strip()
        end = opening.start()
    return None


def _is_line(word: str, line: str) -> bool:
    return line.strip(_WRAPPING + "#-+•").upper() == word


def _verdict(text: str) -> str:
    folded = " ".join(text.lower().replace("_", " ").replace("-", " ").strip(_WRAPPING).split())
    if folded.startswith(("no effect", "no observable effect")):
        return "no observed effect"
    return next((verdict for verdict in _VERDICTS if folded.startswith(verdict)), "confounded" if folded else "")
