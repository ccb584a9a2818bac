"""Lines for a terminal of any size: bars, columns that give way one by one, and sections that share the height.

A line is rich `Text`, never markup: what stands in brackets in a task's name is text. Foreign text comes in through
`foreign`, which shows what would act on the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from rich.text import Text

from ..terminal import one_line

LONGEST: Final = 300
"""Characters of one foreign text that are looked at: no terminal shows more of it."""


@frozen
class Glyphs:
    """The characters that not every terminal has."""

    done: str = "█"
    now: str = "▒"
    left: str = "░"
    more: str = "…"
    dot: str = "·"


BLOCKS: Final = Glyphs()
ASCII: Final = Glyphs(done="#", now="=", left=".", more="~", dot="-")


@frozen
class Row:
    """Cells from left to right, and what stands at the right edge."""

    cells: tuple[Text, ...]
    right: str = ""


def foreign(text: str) -> str:
    """`text` that somebody else wrote, on one line, harmless."""
    return one_line(text[:LONGEST])


def bar(done: int, now: int, total: int, width: int, glyphs: Glyphs) -> Text:
    """`width` cells that stand for `total`; what is begun and not finished takes a cell of its own."""
    width, total = max(width, 1), max(total, 1)
    full = min(done * width // total, width)
    begun = min(max((done + now) * width // total - full, 1 if now > 0 else 0), width - full)
    return Text.assemble(
        (glyphs.done * full, "green"), (glyphs.now * begun, "cyan"), (glyphs.left * (width - full - begun), "dim")
    )


def clock(seconds: float) -> str:
    """`0:07`, `12:31`, `1:02:03`."""
    whole = max(int(seconds), 0)
    minutes, rest = divmod(whole, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def cut(line: Text, width: int, glyphs: Glyphs) -> Text:
    """`line` in at most `width` cells."""
    if line.cell_len <= width:
        return line
    short = line.copy()
    short.truncate(max(width - 1, 0), overflow="crop")
    return short.append(glyphs.more, "dim") if width > 0 else short


def ends(left: Text, right: str, width: int, glyphs: Glyphs) -> Text:
    """`left`, and `right` at the edge if there is room for some of both."""
    room = width - len(right) - 1
    if not right or room < min(left.cell_len, 4):
        return cut(left, width, glyphs)
    line = cut(left, room, glyphs)
    return Text.assemble(line, " " * (width - line.cell_len - len(right)), (right, "dim"))


def grid(rows: Sequence[Row], width: int, drop: Sequence[int], glyphs: Glyphs, indent: int = 2) -> list[Text]:
    """Rows of equally many cells as lines in columns. While they are too wide, the columns in `drop` go, in order."""
    if not rows:
        return []
    natural = [max(row.cells[column].cell_len for row in rows) for column in range(len(rows[0].cells))]
    edge = max(len(row.right) for row in rows)
    kept = [column for column, cells in enumerate(natural) if cells]
    for column in drop:
        if indent + sum(natural[one] + 2 for one in kept) + edge <= width:
            break
        kept = [one for one in kept if one != column]
    lines = []
    for row in rows:
        line = Text(" " * indent)
        for column in kept:
            line.append_text(row.cells[column])
            if column != kept[-1]:
                line.append(" " * (natural[column] - row.cells[column].cell_len + 2))
        lines.append(ends(line, row.right, width, glyphs))
    return lines


def shares(wanted: Sequence[int], height: int) -> list[int]:
    """How many lines each section gets of `height`: the short ones all they want, the long ones equal parts."""
    given = [0] * len(wanted)
    left = max(height, 0)
    while left and any(got < want for got, want in zip(given, wanted, strict=True)):
        for index, want in enumerate(wanted):
            if left and given[index] < want:
                given[index] += 1
                left -= 1
    return given


def first(lines: Sequence[Text], count: int, width: int, glyphs: Glyphs) -> list[Text]:
    """The first of `lines`, `count` in all; the last says how many are not shown."""
    if len(lines) <= count:
        return list(lines)
    if count < 1:
        return []
    rest = len(lines) - count + 1
    return [*lines[: count - 1], cut(Text(f"  {glyphs.more} {rest} more", "dim"), width, glyphs)]
