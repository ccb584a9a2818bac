"""The effect at the edge: a thread keeps a view at the end of a terminal, and lets what others print go by above it.

Nobody ever waits for the terminal: what is printed goes into a queue, and a listener only leaves a new state behind. A
terminal that is gone ends the view and nothing else.
"""

from __future__ import annotations

import io
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Final, TextIO

from rich.text import Text

from .painting import Frame, afresh, away, framer, painted

REFRESH_SECONDS: Final = 0.25
"""The view is written at most so often, and only when it has changed."""
_STUCK_SECONDS: Final = 2.0
"""A terminal that takes nothing for so long, as after Ctrl-S, is not waited for at the end."""
_KEPT: Final = 50
"""Of what was printed, so much is printed again on a terminal that has become too small."""
_SIZE: Final = (80, 24)
"""Of a terminal that does not know its own."""


class Screen:
    """`draw` gives the lines for so many columns and rows; it is called on the screen's thread."""

    def __init__(self, stream: TextIO, draw: Callable[[int, int], Sequence[Text]]) -> None:
        self._stream = stream
        self._draw = draw
        self._frame_of = framer(stream)
        self._shown = Frame()
        self._size = (0, 0)
        self._printed: queue.SimpleQueue[tuple[TextIO, str]] = queue.SimpleQueue()
        self._kept: deque[str] = deque(maxlen=_KEPT)
        self._disturbed = False
        self._over = threading.Event()
        self._gone = False
        self._thread = threading.Thread(target=self._keep, name="harness2-screen", daemon=True)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """The view stands on the terminal meanwhile, and standard output and error go by above it."""
        with ExitStack() as stack:
            self._thread.start()
            stack.callback(self._close)
            errors = _Above(self._stream, self.print)
            stack.callback(errors.end)
            stack.enter_context(redirect_stderr(errors))
            if sys.stdout.isatty():
                output = _Above(sys.stdout, self.print)
                stack.callback(output.end)
                stack.enter_context(redirect_stdout(output))
            yield

    def print(self, stream: TextIO, text: str) -> None:
        """Whole lines for `stream`, above the view; safe in a signal handler, and never blocks."""
        if text:
            self._printed.put((stream, text))

    def _keep(self) -> None:
        while not self._over.wait(REFRESH_SECONDS):
            self._turn(self._lines)
        self._turn(_nothing)

    def _close(self) -> None:
        self._over.set()
        self._thread.join(_STUCK_SECONDS)

    def _lines(self, columns: int, rows: int) -> Sequence[Text]:
        try:
            return self._draw(columns, rows)
        except Exception as error:  # a fault of the view must not cost anybody the messages
            return (Text(f"the live view failed: {type(error).__name__}"),)

    def _turn(self, draw: Callable[[int, int], Sequence[Text]]) -> None:
        if self._gone:
            return
        try:
            size = self._measured()
            # A row stays free for the cursor, and a column: some terminals wrap a line that fills the last one.
            frame = self._frame_of(draw(max(size[0] - 1, 1), max(size[1] - 1, 1)))
            printed = self._taken()
            if not printed and frame == self._shown and size == self._size:
                return
            text = self._back(size, size[1] - len(frame.lines) - 1)
            for stream, lines in printed:
                if stream is not self._stream:
                    self._write(self._stream, text)
                    self._write(stream, lines)
                    text = ""
                else:
                    text += lines
                self._kept.append(lines)
            self._write(self._stream, text + painted(frame))
            self._shown, self._size = frame, size
        except (OSError, ValueError):  # the terminal is gone, or its stream was closed
            self._gone = True

    def _back(self, size: tuple[int, int], room: int) -> str:
        """To where the view begins, with `room` above it. What scrolled away comes back as it grows."""
        self._disturbed = self._disturbed or not self._shown.stands(*size)
        if self._disturbed and size != self._size:
            return afresh(size[1], list(self._kept)[-room:] if room > 0 else ())
        return away(self._shown)

    def _measured(self) -> tuple[int, int]:
        columns, rows = os.get_terminal_size(self._stream.fileno())
        return (columns or _SIZE[0], rows or _SIZE[1])

    def _taken(self) -> list[tuple[TextIO, str]]:
        taken = []
        while not self._printed.empty():
            taken.append(self._printed.get())
        return taken

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        stream.write(text)
        stream.flush()


def _nothing(columns: int, rows: int) -> Sequence[Text]:
    return ()


class _Above(io.TextIOBase):
    """Stands for a stream: its whole lines are printed above the view."""

    def __init__(self, stream: TextIO, put: Callable[[TextIO, str], None]) -> None:
        self._stream = stream
        self._put = put
        self._half = ""
        self._lock = threading.RLock()  # a signal handler may print while its thread does

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # a plain attribute there
        return self._stream.errors

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        with self._lock:
            lines, newline, self._half = (self._half + text).rpartition("\n")
        if newline:
            self._put(self._stream, lines + newline)
        return len(text)

    def end(self) -> None:
        """Half a line is a line at the end."""
        if self._half:
            self.write("\n")

    def close(self) -> None:
        """Never closed by those who borrow it, as the stream that it stands for."""
