"""`watching`: progress of a sweep for whoever looks on, as a live view on a terminal, else as plain lines."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from attrs import frozen

from harness2_core.model.events import Happened
from harness2_core.sweep.events import Listener
from harness2_core.sweep.signals import tell_at_once

from ..progress import tell_progress, tell_state
from .state import State


@frozen
class Watching:
    """`listener` is for the sweep; `tell` takes what a signal handler has to say: it never blocks.

    `show` begins in the middle, with the state of a sweep that has been going on for a while.
    """

    listener: Listener
    tell: Callable[[str], None]
    show: Callable[[State], None]


@contextmanager
def watching(plain: bool = False, lines: Listener | None = None) -> Iterator[Watching]:
    """Progress on standard error while the block runs. What is printed meanwhile goes by above the view, which is gone
    at the end; what was told stays. `lines` is the listener where there is no view; core's own by default.

        with watching() as view, asked_by_signals(Stop(), view.tell) as stop:
            run_sweep(config, listeners=(view.listener,), stop=stop, notice=warn)
    """
    stream = sys.stderr
    if plain or not can_paint(stream, os.environ):
        yield Watching(lines or tell_progress, tell_at_once, tell_state)
        return
    from .painting import glyphs_of  # rich is imported where there is a view
    from .screen import Screen
    from .view import lines_of

    state, told, glyphs = State(), [""], glyphs_of(stream)

    def listen(event: Happened) -> None:
        nonlocal state
        state = state.after(event)  # a value in the place of another: who draws sees the one or the other

    def show(begun: State) -> None:
        nonlocal state
        state = begun

    screen = Screen(stream, lambda columns, rows: lines_of(state, time.time(), columns, rows, glyphs, told[-1]))
    with screen.shown():
        try:
            yield Watching(listen, told.append, show)
        finally:
            screen.print(stream, "".join(f"{text}\n" for text in told[1:]))


def can_paint(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether it is a terminal on which the cursor can be moved."""
    try:
        return stream.isatty() and environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    except ValueError:  # closed
        return False
