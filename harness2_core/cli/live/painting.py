"""What is written to a terminal to keep a few lines at the end of what it shows: texts, no effects.

The lines stand below everything else and the cursor below them, so that whoever writes to the terminal all the same,
such as a signal handler that leaves at once, starts on an empty line. A terminal that became too small for what stood
on it has wrapped or scrolled it, each kind in its own way: there everything is painted afresh.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Final, TextIO

from attrs import frozen
from rich.console import Console
from rich.text import Text

from .layout import ASCII, BLOCKS, Glyphs

_CLIPPED: Final = "\x1b[?7l"
_WRAPPED: Final = "\x1b[?7h"
"""Wide characters are measured differently by some terminals: a line that is too long there is clipped, not wrapped."""
_HOME: Final = "\x1b[H"
_CLEAR_ROW: Final = "\x1b[2K"
"""Row by row: where a whole screen is cleared at once, some terminals keep a copy of it above, four times a second."""


@frozen
class Frame:
    """Lines as they were painted, each with its width in cells."""

    lines: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()

    def stands(self, columns: int, rows: int) -> bool:
        """Whether a terminal of that size still shows it as it was painted: no line wrapped, none scrolled away."""
        return len(self.lines) < rows and max(self.widths, default=0) <= columns


def away(former: Frame) -> str:
    """Goes back to where `former` began, and clears the way."""
    return "\r" + _CLEAR_ROW + f"\x1b[A{_CLEAR_ROW}" * len(former.lines)


def afresh(rows: int, printed: Sequence[str]) -> str:
    """Clears what a terminal of so many rows shows, and prints again."""
    return _HOME + f"{_CLEAR_ROW}\x1b[B" * rows + _HOME + "".join(printed)


def painted(frame: Frame) -> str:
    """Writes `frame` where the cursor is, at the beginning of a line."""
    return _CLIPPED + "".join(f"{line}\n" for line in frame.lines) + _WRAPPED


def framer(stream: TextIO) -> Callable[[Sequence[Text]], Frame]:
    """From lines to a frame, in the colours that the terminal behind `stream` has; `NO_COLOR` is heeded."""
    there = Console(file=stream)
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system=there.color_system,  # type: ignore[arg-type]  # rich gives the names that it takes as plain texts
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )

    def frame(lines: Sequence[Text]) -> Frame:
        drawn = []
        for line in lines:
            with console.capture() as captured:
                console.print(line, end="", no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)
            drawn.append(_encodable(captured.get(), stream.encoding))
        return Frame(tuple(drawn), tuple(line.cell_len for line in lines))

    return frame


def glyphs_of(stream: TextIO) -> Glyphs:
    """Blocks where the terminal's encoding has them."""
    return BLOCKS if _encodable(BLOCKS.done, stream.encoding) == BLOCKS.done else ASCII


def _encodable(text: str, encoding: str | None) -> str:
    """A character that the terminal has not becomes one that takes no more room."""
    return text.encode(encoding or "ascii", "replace").decode(encoding or "ascii")
