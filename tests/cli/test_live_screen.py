"""The edge: nobody waits for the terminal, and nothing that befalls it or the view befalls the work."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO

import pytest
from rich.text import Text

from harness2_core.cli.live.screen import Screen
from harness2_core.cli.live.watching import watching
from harness2_core.model.events import Happened
from harness2_core.sweep.signals import asked_by_signals
from harness2_core.sweep.stop import Stop

PATIENCE_SECONDS: Final = 60


class Tty:
    """Both ends of a terminal: `stream` is where programs write, `shown` what has come out so far."""

    def __init__(self) -> None:
        self.master, slave = pty.openpty()
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        os.set_blocking(self.master, False)
        self._shown = b""

    @property
    def shown(self) -> str:
        try:
            while data := os.read(self.master, 65536):
                self._shown += data
        except (BlockingIOError, OSError):
            pass
        return self._shown.decode()

    def until(self, seen: Callable[[str], bool]) -> None:
        ends = time.monotonic() + PATIENCE_SECONDS
        while not seen(self.shown):
            assert time.monotonic() < ends, self.shown
            time.sleep(0.02)

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        if self.master >= 0:
            os.close(self.master)


@pytest.fixture
def tty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tty]:
    made = Tty()
    monkeypatch.setenv("TERM", "xterm")
    yield made
    made.close()


def view(columns: int, rows: int) -> Sequence[Text]:
    return (Text("the view"),)


def test_what_is_printed_meanwhile_goes_by_above_the_view(tty: Tty) -> None:
    with Screen(tty.stream, view).shown():
        tty.until(lambda shown: "the view" in shown)
        print("a word", file=sys.stderr)
        tty.until(lambda shown: "a word" in shown)

    assert tty.shown.index("a word") < tty.shown.rindex("the view")


def test_half_a_line_waits_for_its_rest(tty: Tty) -> None:
    with Screen(tty.stream, view).shown():
        sys.stderr.write("half ")
        tty.until(lambda shown: "the view" in shown)
        before = tty.shown
        sys.stderr.write("and half\n")

        sys.stderr.write("a last half")

    assert "half" not in before
    assert "half and half" in tty.shown
    assert "a last half" in tty.shown


def test_the_streams_are_given_back_at_the_end_even_after_an_error(tty: Tty) -> None:
    before = (sys.stdout, sys.stderr)
    with pytest.raises(RuntimeError), Screen(tty.stream, view).shown():
        raise RuntimeError

    assert (sys.stdout, sys.stderr) == before
    assert not any(thread.name == "harness2-screen" for thread in threading.enumerate())


def test_a_view_that_has_not_changed_is_not_written_again(tty: Tty) -> None:
    drawn = []

    def counted(columns: int, rows: int) -> Sequence[Text]:
        drawn.append((columns, rows))
        return view(columns, rows)

    with Screen(tty.stream, counted).shown():
        tty.until(lambda shown: len(drawn) >= 4)

    assert tty.shown.count("the view") == 1


def test_the_view_gets_a_row_and_a_column_less_than_the_terminal_has(tty: Tty) -> None:
    fcntl.ioctl(tty.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 70, 0, 0))
    sizes = set()

    def seen(columns: int, rows: int) -> Sequence[Text]:
        sizes.add((columns, rows))
        return view(columns, rows)

    with Screen(tty.stream, seen).shown():
        tty.until(lambda shown: "the view" in shown)

    assert sizes == {(69, 29)}


def test_a_fault_of_the_view_costs_nobody_the_messages(tty: Tty) -> None:
    def broken(columns: int, rows: int) -> Sequence[Text]:
        raise ZeroDivisionError

    with Screen(tty.stream, broken).shown():
        print("a word", file=sys.stderr)
        tty.until(lambda shown: "a word" in shown)

    assert "the live view failed: ZeroDivisionError" in tty.shown


def test_a_terminal_that_takes_nothing_holds_nobody_up(tty: Tty) -> None:
    began = time.monotonic()
    with Screen(tty.stream, view).shown():
        for _ in range(2000):
            print("x" * 80, file=sys.stderr)  # more than a terminal holds that nobody reads
        printed = time.monotonic() - began
    tty.until(lambda shown: "x" * 80 in shown)  # the thread that writes is let go

    assert printed < 10


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_terminal_that_is_gone_ends_the_view_and_nothing_else(tty: Tty) -> None:
    with Screen(tty.stream, view).shown():
        tty.until(lambda shown: "the view" in shown)
        tty.hang_up()
        for _ in range(5):
            print("nobody hears", file=sys.stderr)
            time.sleep(0.1)


def test_a_signal_handler_that_interrupts_a_print_is_heard(tty: Tty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", tty.stream)
    with watching() as watched, asked_by_signals(Stop(), watched.tell) as stop:
        watched.listener(Happened("sweep-started", "2026-01-01T00:00:00Z", facts={"namespace": "toy-py-agg1"}))
        timer = threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.start()
        while not stop.level:
            print("x", file=sys.stderr)
        tty.until(lambda shown: "stopping: nothing more is started" in shown)

    assert re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", tty.shown).rstrip().endswith("once more ends it at once")


def test_progress_is_plain_lines_on_what_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with watching() as watched:
        watched.listener(Happened("step-ended", "2026-01-01T00:00:00Z", task="sums/\x1b[2Ja", kind="finish"))

    assert capsys.readouterr().err == "sums/\\x1b[2Ja: finished\n"


@pytest.mark.process
def test_plain_lines_import_no_rich() -> None:
    code = (
        "import sys; from harness2_core.cli.live.watching import watching\n"
        "with watching(True): print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
