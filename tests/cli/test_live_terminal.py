"""The live view on a real terminal, through tmux: it appears, keeps up with sizes, and leaves nothing behind.

The run is a small one whose harness waits at a gate, so that the view can be looked at for as long as a test needs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux: see its package of the system"),
]

PATIENCE_SECONDS: Final = 120
PROMPT: Final = "ready>"
WAITING: Final = """\
import os
import time
from pathlib import Path

output, gate = Path(os.environ["HARNESS2_OUTPUT"]), Path({gate!r})
output.mkdir(parents=True, exist_ok=True)
while not gate.exists():
    time.sleep(0.05)
(output / "sum.txt").write_text("7\\n", encoding="utf-8")
"""


class Pane:
    """A terminal of its own: a shell in a folder, with a prompt that is known."""

    def __init__(self, root: Path, number: int, environment: Mapping[str, str]) -> None:
        self._socket = str(root / f"tmux{number}.socket")
        names = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        names.pop("TMUX", None)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "24", "-c", str(root), "sh", env=names)
        self.type(f"PS1={PROMPT[:1]}'{PROMPT[1:]}'; clear")
        self.until(lambda: self.text == PROMPT)

    def type(self, line: str) -> None:
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def key(self, name: str) -> None:
        self._tmux("send-keys", name)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def text(self) -> str:
        """What is shown, without empty lines."""
        return "\n".join(line for line in self._tmux("capture-pane", "-p").splitlines() if line)

    @property
    def history(self) -> str:
        """All that was ever shown and is still kept."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    @property
    def painted(self) -> str:
        """What is shown, with colours and styles."""
        return self._tmux("capture-pane", "-p", "-e")

    def until(self, seen: Callable[[], bool]) -> None:
        ends = time.monotonic() + PATIENCE_SECONDS
        while not seen():
            assert time.monotonic() < ends, self.history
            time.sleep(0.1)

    def ended(self) -> str:
        """What stands on the terminal once the command has come to its end."""
        self.until(lambda: self.text.splitlines()[-1].startswith(PROMPT) and self.text.count(PROMPT) >= 2)
        return self.text

    def close(self) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, check=False, env=env
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


class Run:
    """`harness2 run` with two bases at the gate, and a terminal to start it in."""

    def __init__(self, bench: Any, distributions: Any) -> None:
        self.bench = bench
        self.gate = bench.root / "gate"
        bench.write("base/scripts/solve.py", WAITING.format(gate=str(self.gate)))
        bench.options |= {"run.substrate": "python", "run.k": "2", "run.engine": "threads", "run.slots": "2"}
        self.environment = {
            "PYTHONPATH": str(distributions.folder),
            "XDG_CONFIG_HOME": str(bench.root / "user"),
        }
        self._panes: list[Pane] = []

    def command(self, *arguments: str) -> str:
        """As a person would type it, from a file, for it is long."""
        options = [part for key, value in self.bench.options.items() for part in ("-o", f"{key}={value}")]
        if arguments[0] == "watch":
            options = ["--runs", str(self.bench.runs)]
        code = "from harness2_core.cli.main import main; main()"
        script = self.bench.root / f"{arguments[0]}.sh"
        script.write_text(f"exec {shlex.join([sys.executable, '-c', code, *arguments, *options])}\n")
        return f"sh {script.name}"

    def start(self, *arguments: str, before: str = "") -> Pane:
        """`before` stands before the command, as variables do."""
        pane = self.another()
        pane.type(f"{before} {self.command('run', *arguments)}")
        return pane

    def another(self) -> Pane:
        """One terminal more."""
        pane = Pane(self.bench.root, len(self._panes), self.environment)
        self._panes.append(pane)
        return pane

    def close(self) -> None:
        self.gate.touch()
        for pane in self._panes:
            pane.close()


@pytest.fixture
def running(bench: Any, distributions: Any) -> Iterator[Run]:
    made = Run(bench, distributions)
    yield made
    made.close()


def begun(pane: Pane) -> bool:
    return "2/2 slots" in pane.text


def test_the_view_appears_and_is_gone_at_the_end_while_the_result_stays(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    while_running = pane.text
    running.gate.touch()
    after = pane.ended()

    assert "small-py-agg2" in while_running
    assert "sums/first" in while_running
    assert "rollout" in while_running
    assert "slots" not in after
    assert "small-py-agg2: 1 ok" in after
    assert "█" not in pane.history
    assert after.count("no sandbox: ") == after.count("to do: ") == 1  # what went by above the view


def test_elapsed_time_goes_on_while_nothing_happens(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    early = pane.text

    pane.until(lambda: pane.text != early)


@pytest.mark.parametrize("sizes", [[(60, 12)], [(20, 8)], [(20, 6), (120, 30)], [(5, 3), (90, 24)], [(200, 50)]])
def test_a_resized_terminal_shows_the_view_once_and_whole(running: Run, sizes: list[tuple[int, int]]) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    for columns, rows in sizes:
        pane.resize(columns, rows)
        time.sleep(1)
    # A terminal may keep a copy of lines in its history, but what it shows is the view and what was printed.
    head = "small-py-agg2"[: max(columns - 2, 1)]
    pane.until(lambda: sum(line.startswith(head) for line in pane.text.splitlines()) == 1)

    assert len(pane.text.splitlines()) < rows


def test_after_a_change_of_size_the_end_is_clean_too(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    pane.resize(30, 8)
    pane.until(lambda: "…" in pane.text)
    pane.resize(90, 24)
    pane.until(lambda: begun(pane))
    running.gate.touch()
    pane.until(lambda: "1 ok" in pane.text)

    assert "slots" not in pane.text
    assert pane.text.count("to do: ") == 1


def test_an_interrupt_is_answered_in_the_view_and_its_words_stay(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    pane.key("C-c")
    pane.until(lambda: "stopping: nothing more is started" in pane.text)
    still = begun(pane)
    running.gate.touch()
    after = pane.ended()
    pane.type("echo code $?")
    pane.until(lambda: "code 130" in pane.text)

    assert still
    assert "slots" not in after
    assert "stopping: nothing more is started" in after
    assert "run the same command again to go on" in after


def test_a_second_interrupt_ends_the_work_and_leaves_the_terminal_clean(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    pane.key("C-c")
    pane.until(lambda: "stopping:" in pane.text)
    pane.key("C-c")
    after = pane.ended()

    assert not running.gate.exists()
    assert "ending running work" in after
    assert "slots" not in after


def test_whoever_is_killed_leaves_the_cursor_below_the_view(running: Run) -> None:
    pane = running.start()
    pane.until(lambda: begun(pane))
    (pid,) = subprocess.run(
        ["pgrep", "-f", f"run.runs={running.bench.runs}"], capture_output=True, text=True, check=True
    ).stdout.split()
    os.kill(int(pid), 9)
    pane.until(lambda: pane.text.splitlines()[-1].startswith(PROMPT))
    pane.type("echo a line as any")

    pane.until(lambda: pane.text.splitlines()[-2:-1] == ["a line as any"])
    assert pane.text.count("2/2 slots") == 1


@pytest.mark.parametrize(
    ("arguments", "before"), [(("--plain",), ""), (("--no-live",), ""), ((), "TERM=dumb"), ((), "TERM=")]
)
def test_there_are_plain_lines_where_they_are_asked_for_or_the_cursor_does_not_move(
    running: Run, arguments: tuple[str, ...], before: str
) -> None:
    running.gate.touch()
    after = running.start(*arguments, before=before).ended()

    assert "sums/first: started" in after
    assert "sums/first: finished" in after


def test_the_view_is_no_colours_where_none_are_wanted(running: Run) -> None:
    pane = running.start(before="NO_COLOR=1")
    pane.until(lambda: begun(pane))
    plain = pane.painted
    running.gate.touch()
    pane.ended()

    assert "\x1b[1m" in plain
    assert not any(f"\x1b[3{colour}m" in plain for colour in range(8))


def test_a_reader_who_leaves_stops_no_run(running: Run) -> None:
    running.gate.touch()
    process = subprocess.Popen(
        shlex.split(running.command("run")),
        cwd=running.bench.root,
        env={**os.environ, **running.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(PATIENCE_SECONDS) == 0


def test_watch_shows_the_run_of_another_process_and_ends_with_it(running: Run) -> None:
    pane, other = running.start(), running.another()
    other.type(running.command("watch"))
    other.until(lambda: begun(other))
    running.gate.touch()
    after = other.ended()
    other.type("echo code $?")
    other.until(lambda: "code 0" in other.text)

    assert "small-py-agg2: the run has ended with exit code 0" in after
    assert "slots" not in after
    assert "1 ok" in pane.ended()


def test_an_interrupted_watch_ends_with_130_and_the_run_goes_on(running: Run) -> None:
    pane, other = running.start(), running.another()
    other.type(running.command("watch"))
    other.until(lambda: begun(other))
    other.key("C-c")
    after = other.ended()
    other.type("echo code $?")
    other.until(lambda: "code 130" in other.text)
    running.gate.touch()

    assert "slots" not in after
    assert "1 ok" in pane.ended()
