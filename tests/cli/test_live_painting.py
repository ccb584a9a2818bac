"""What is written to the terminal: whatever is printed meanwhile, there stand the prints and the last frame."""

from __future__ import annotations

import io
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from harness2_core.cli.live.layout import ASCII, BLOCKS
from harness2_core.cli.live.painting import Frame, afresh, away, framer, glyphs_of, painted
from harness2_core.cli.live.watching import can_paint


class Grid:
    """A terminal that is large enough: its rows as text, and the few sequences that are written to it."""

    SEQUENCE: Final = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|(.)", re.DOTALL)

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self.row = self.column = 0
        self.wraps = True

    def write(self, text: str) -> None:
        for number, command, character in self.SEQUENCE.findall(text):
            match command or character:
                case "A":
                    self.row -= int(number or 1)
                    assert self.row >= 0, "above what was painted"
                case "B":
                    self._down()
                case "H":
                    self.row = self.column = 0
                case "K":
                    assert number == "2"
                    self.rows[self.row] = ""
                case "l" | "h":
                    assert number == "?7"
                    self.wraps = command == "h"
                case "m":
                    pass
                case "\r":
                    self.column = 0
                case "\n":
                    self._down()
                    self.column = 0
                case _:
                    assert character, f"an unknown sequence {command}"
                    line = self.rows[self.row].ljust(self.column)
                    self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
                    self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")

    @property
    def shown(self) -> list[str]:
        return [row.rstrip() for row in self.rows]


def frame(lines: list[str]) -> Frame:
    return Frame(tuple(lines), tuple(map(len, lines)))


class Terminal(io.TextIOWrapper):
    def __init__(self, tty: bool = True, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


LINES: Final = st.lists(st.text("abc", min_size=1, max_size=5), max_size=4)


@given(st.lists(st.tuples(LINES, LINES), max_size=6))
def test_what_stands_there_is_what_was_printed_and_the_last_frame(turns: list[tuple[list[str], list[str]]]) -> None:
    grid, former, printed = Grid(), Frame(), list[str]()
    for prints, lines in turns:
        grid.write(away(former) + "".join(f"{line}\n" for line in prints) + painted(frame(lines)))
        former, printed = frame(lines), printed + prints
        expected = [*printed, *former.lines, ""]

        assert grid.shown[: len(expected)] == expected
        assert not any(grid.shown[len(expected) :])
        assert (grid.row, grid.column, grid.wraps) == (len(expected) - 1, 0, True)


def test_what_a_key_echoed_beside_the_cursor_is_cleared_with_the_frame() -> None:
    grid = Grid()
    grid.write(painted(frame(["one"])) + "^C" + away(frame(["one"])))

    assert grid.shown == ["", ""]


def test_a_disturbed_terminal_is_painted_afresh_with_what_was_printed() -> None:
    grid = Grid()
    grid.write("junk\n" * 5 + afresh(6, ["kept\n"]) + painted(frame(["new"])))

    assert [row for row in grid.shown if row] == ["kept", "new"]
    assert grid.shown[:2] == ["kept", "new"]


@pytest.mark.parametrize(("columns", "rows", "stands"), [(5, 3, True), (4, 3, False), (5, 2, False), (80, 24, True)])
def test_a_frame_stands_while_no_line_wraps_and_none_scrolls_away(columns: int, rows: int, stands: bool) -> None:
    assert frame(["12345", "1"]).stands(columns, rows) is stands


@pytest.mark.parametrize(
    ("environ", "coloured", "styled"),
    [
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False, True),
        ({"TERM": "xterm"}, True, True),
    ],
)
def test_colours_are_those_of_the_terminal_and_no_color_is_heeded(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], coloured: bool, styled: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    (line,) = framer(Terminal())([Text("x", "bold green")]).lines

    assert ("32" in line) is coloured
    assert ("\x1b[1" in line) is styled


def test_a_frame_has_the_width_of_its_text_not_of_its_colours() -> None:
    made = framer(Terminal())([Text("漢字", "red"), Text(":smile: [b]")])

    assert made.widths == (4, 11)
    assert made.lines[1] == ":smile: [b]"


def test_a_character_that_the_terminal_has_not_takes_no_more_room() -> None:
    ascii_terminal = Terminal(encoding="ascii")

    assert framer(ascii_terminal)([Text("aé漢")]).lines == ("a??",)
    assert glyphs_of(ascii_terminal) == ASCII
    assert glyphs_of(Terminal()) == BLOCKS


@pytest.mark.parametrize(
    ("tty", "environ", "can"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {}, False),
    ],
)
def test_a_view_needs_a_terminal_whose_cursor_moves(tty: bool, environ: dict[str, str], can: bool) -> None:
    assert can_paint(Terminal(tty), environ) is can


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()

    assert can_paint(closed, {"TERM": "xterm"}) is False
