"""Reading replies: what a model meant, leniently, without guessing.

The last complete block wins, so an early draft does not beat the final answer. What a reply only quotes, from its
mission or in passing, is no answer. Ids are understood in backticks, brackets, quotes, lower case or after "Candidate";
fields may span lines and be bold, bulleted or headings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from .strategy import Choice, Edit, Lesson, Unusable
from .trajectory import cut

WHY_CHARS: Final = 2_000
"""Characters of a choice's reason that are kept; reflectors read it, so a cut is marked."""

KEEP: Final = "KEEP_BASE"
NO_ENTRY: Final = "NO_ENTRY"

_BULLET: Final = r"(?:[-*+•‣▪·–—]|\(?\d+[.)])[ \t]+"
_CHOICE: Final = re.compile(
    rf"^[ \t>]*(?:{_BULLET})?(`{{3,}}|~{{3,}})[ \t]*choice(?![\w-])", re.MULTILINE | re.IGNORECASE
)
_LEAD: Final = re.compile(r"(?:the|my|final|candidate|option|answer|choice|pick|winner|id|is)(?![^\W_])", re.IGNORECASE)
_LISTED: Final = re.compile(r"one of\b", re.IGNORECASE)
"""How the mission shows what to put into the block."""
_VERDICTS: Final = ("helped", "hurt", "no observed effect", "confounded")
_SEVERAL: Final = re.compile(rf"(?:{'|'.join(_VERDICTS)})\s*(?:[,/|]|or\b|and\b)\s*(?:{'|'.join(_VERDICTS)})")
_FIELD: Final = (
    rf"^[ \t>]*(?:{_BULLET}|(?P<heading>#{{1,6}})[ \t]+)?"
    r"(?P<before>[*_`]{0,3})(?P<name>%s)(?P<after>[*_`]{0,3})[ \t]*"
    r"(?:(?P<colon>[:：])(?P<late>[*_`]{0,3})[ \t]*|$)"
)
_FENCE: Final = re.compile(r"^(?:`{3,}|~{3,})[\w-]*$", re.MULTILINE)


def block(text: str, tag: str) -> str | None:
    """The inside of the last complete `<tag>...</tag>` with plain line ends, or `None`."""
    spans = _spans(text, tag)
    return _plain_ends(text[slice(*spans[-1])].strip()) if spans else None


def choice_in(text: str, ids: Collection[str]) -> Choice:
    """The id in the last fenced `choice` block. `Unusable` says what is missing."""
    listed = ", ".join(sorted(ids, key=lambda id: (len(id), id)))
    answer = _last_choice(text)
    if answer is None:
        raise Unusable(f"it has no fenced block with the info string 'choice'; put one of {listed} into such a block")
    chosen = _id_in(answer, ids)
    if chosen is None:
        raise Unusable(f"its choice block says {answer[:80]!r}, which is none of {listed}")
    return Choice(chosen, cut(block(text, "why") or "", WHY_CHARS))


def notes_in(text: str) -> str:
    """The decision notes of a stage's reply: the last `<notes>` block, else the whole reply."""
    found = block(text, "notes")
    return text.strip() if found is None else found


def keeps_base(text: str, mission: str = "") -> bool:
    """Whether the reply says, on a line of its own, to keep what was given.

    What stands before the last block of notes but one was a draft. A line that is quoted does not say it: one marked
    as a quotation, or one that follows the same words as in `mission`.
    """
    spans = _spans(text, "notes")
    final = text[spans[-2][1] :] if len(spans) > 1 else text
    asked = set(_before_keep(mission))
    return any(not said or said not in asked for said in _before_keep(final))


def lesson_in(text: str) -> Lesson | None:
    """The lesson in a reflection; `None` when it declines. `Unusable` when it has neither lesson nor `NO_ENTRY`.

    Whichever comes last counts: an `<experience>` block, or `NO_ENTRY` on a line of its own.
    """
    edits = edits_in(text)
    spans = _spans(text, "experience")
    if not spans:
        if _declines(text):
            return None
        raise Unusable(f"it has neither an <experience> block nor the line {NO_ENTRY}")
    inside, rest = text[slice(*spans[-1])], text[spans[-1][1] :]
    if any(_is_line(NO_ENTRY, line) for line in rest.splitlines()):
        return None
    values = fields_in(inside, ("cue", "lesson", "evidence", "confidence"))
    missing = [name for name in ("cue", "lesson", "evidence") if not re.search(r"[^\W_]", values.get(name, ""))]
    if (missing and _declines(inside)) or any(_is_line(NO_ENTRY, values.get(name, "")) for name in ("cue", "lesson")):
        return None
    if missing:
        raise Unusable(f"its <experience> block lacks {', '.join(missing)}; write each as '{missing[0]}: ...'")
    return Lesson(values["cue"], values["lesson"], values["evidence"], edits, values.get("confidence", ""))


def edits_in(text: str) -> tuple[Edit, ...]:
    """The rows of the last `<edits>` block, each from one field of the first one's name to the next.

    Rows that name no component are left out.
    """
    inside = block(text, "edits") or ""
    names = ("component", "candidates", "change", "observed", "verdict")
    fields = [(found["name"].lower(), found.start()) for found in _fields(inside, names)]
    starts = [start for name, start in fields if name == fields[0][0]]
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
    """`name: value` fields, bold, bulleted or plain, or names as headings with the value below them.

    A value runs to the next field. The last one of a name wins.
    """
    text = _plain_ends(text)
    found = list(_fields(text, names))
    values: dict[str, str] = {}
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        opened = match["before"] if not match["after"] else ""
        begin = match.end() if opened or not match["late"] else match.start("late")
        value = "\n".join(line.strip() for line in text[begin:end].strip().splitlines())
        if len(_FENCE.findall(value)) % 2:  # of a fence around the fields
            value = _FENCE.sub("", value).strip()
        if opened and not match["late"]:  # a line that is bold as a whole
            value = value.removesuffix(opened).rstrip()
        values[match["name"].lower()] = value
    return values


def _fields(text: str, names: Collection[str]) -> Iterator[re.Match[str]]:
    for match in re.finditer(_FIELD % "|".join(names), text, re.MULTILINE | re.IGNORECASE):
        emphasised = match["before"].strip("`") and match["after"]
        if match["colon"] or match["heading"] or emphasised:
            yield match


def _spans(text: str, tag: str) -> list[tuple[int, int]]:
    """Where the insides of all complete `<tag>...</tag>` lie; a closing tag without an opening one is text.

    A tag that stands between backticks by itself is spoken of; one between bold marks is the tag.
    """
    spans, start = [], None
    for token in re.finditer(rf"(\*\*|__|`)<(/?){tag}\s*>\1|<(/?){tag}\s*>", text, re.IGNORECASE):
        if token.group(1) == "`":
            continue
        if not (token.group(2) or token.group(3)):
            start = token.end()
        elif start is not None:
            spans.append((start, token.start()))
            start = None
    return spans


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _last_choice(text: str) -> str | None:
    """The inside of the last closed block; one that the next opening fence cuts off was never closed.

    Blocks that only show the form, as the mission does, count where there is no other.
    """
    end, form = len(text), None
    for opening in reversed(list(_CHOICE.finditer(text))):
        inside = text[opening.end() : end]
        closed = inside.find(opening.group(1))
        end = opening.start()
        if closed < 0:
            continue
        if closed and not _LISTED.match(_bare(inside[:closed])):
            return inside[:closed].strip()
        form = inside[:closed].strip() if form is None else form
    return form


def _id_in(answer: str, ids: Collection[str]) -> str | None:
    """The id that `answer` names, and nothing but that."""
    if answer in ids:
        return answer
    folded: dict[str, list[str]] = {}
    for id in ids:
        folded.setdefault(_bare(id).casefold() or id, []).append(id)
    said = _bare(answer)
    while said.casefold() not in folded:
        lead = _LEAD.match(said)
        if lead is None:
            return None
        said = _bare(said[lead.end() :])
    meant = folded[said.casefold()]
    return meant[0] if len(meant) == 1 else None


def _bare(text: str) -> str:
    """Without whatever stands around its letters and digits: quotes of all languages, brackets, marks, blanks."""
    text = unicodedata.normalize("NFKC", text)
    begin, end = 0, len(text)
    while begin < end and not text[begin].isalnum():
        begin += 1
    while end > begin and not text[end - 1].isalnum():
        end -= 1
    return text[begin:end]


def _before_keep(text: str) -> Iterator[str]:
    """For every line that says to keep, the last words of what stands before it; empty at the beginning."""
    before = ""
    for line in text.splitlines():
        if _is_line(KEEP, line) and not line.lstrip().startswith(">"):
            yield before
        elif line.strip():
            before = _bare(line).casefold()[-30:]


def _is_line(word: str, line: str) -> bool:
    return _bare(line).replace("\\_", "_").upper() == word


def _declines(text: str) -> bool:
    """Whether a line begins with `NO_ENTRY` and at most says why."""
    for line in text.splitlines():
        before, found, after = line.replace("\\_", "_").upper().partition(NO_ENTRY)
        if found and not _bare(before) and not after.lstrip(" \t*_`")[:1].isalnum():
            return True
    return False


def _verdict(text: str) -> str:
    folded = " ".join(re.sub(r"[_-]", " ", _bare(text)).casefold().split())
    if folded.startswith(("no effect", "no observable effect")):
        return "no observed effect"
    if _SEVERAL.match(folded):
        return "confounded"
    return next((verdict for verdict in _VERDICTS if folded.startswith(verdict)), "confounded" if folded else "")
