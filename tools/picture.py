"""The picture of the live view: `docs/live.svg`, from the events of a real run in `docs/live.jsonl`.

    python tools/picture.py             draws the picture
    python tools/picture.py record      runs the examples first, and keeps their events up to a busy moment

Nothing of the machine is kept: times count from a fixed day, and requests have short names in place of digests.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from harness2_core.cli.live.state import RUNNING, State
from harness2_core.cli.live.view import picture
from harness2_core.model.canonical import canonical
from harness2_core.model.events import Happened
from harness2_core.model.serial import plain
from harness2_core.sweep.event_log import NAME, event_in

ROOT: Final = Path(__file__).resolve().parent.parent
EVENTS: Final = ROOT / "docs" / "live.jsonl"
PICTURE: Final = ROOT / "docs" / "live.svg"
WIDTH: Final = 96
HEIGHT: Final = 24
DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
TITLE: Final = "harness2 run"
RUN: Final = ("--k", "1", "--modes", "parallel,sequential", "--max-tasks", "3", "--slots", "4", "--plain")
FONTS: Final = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""Rich's format loads fonts from another host; a page that shows the picture shall not."""


def drawn(events: Sequence[Happened]) -> str:
    """The view after `events`, as SVG."""
    state = State()
    for event in events:
        state = state.after(event)
    console = Console(
        record=True,
        file=io.StringIO(),
        width=WIDTH,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(picture(state, state.latest, WIDTH, HEIGHT))
    return console.export_svg(title=TITLE, code_format=FONTS.sub("", CONSOLE_SVG_FORMAT), unique_id="live")


def recorded(path: Path) -> list[Happened]:
    """The events of a log."""
    return [event for line in path.read_bytes().splitlines() if (event := event_in(line)) is not None]


def record(log: Path) -> list[Happened]:
    """Of a log, what happened up to a busy moment in its middle, with nothing of the machine in it."""
    events = recorded(log)
    state, states = State(), []
    for event in events:
        state = state.after(event)
        states.append(state)
    third = len(states) // 3
    busiest = max(range(third, 2 * third), key=lambda index: _busy(states[index]))
    return list(_nameless(events[: busiest + 1]))


def main(arguments: Sequence[str]) -> None:
    if arguments == ["record"]:
        with tempfile.TemporaryDirectory() as folder:
            events = record(_run(Path(folder)))
        EVENTS.write_bytes(b"".join(canonical(plain(event)) + b"\n" for event in events))
    PICTURE.write_text(drawn(recorded(EVENTS)), encoding="utf-8")


def _run(folder: Path) -> Path:
    """Runs the examples, and gives the log."""
    from harness2_local.example_files import copy_to

    from harness2_core.cli.main import run

    copy_to(folder / "examples")
    config = folder / "examples" / "harness2.toml"
    code = run(["--config", str(config), "run", "--runs", str(folder / "runs"), *RUN])
    if code:
        raise SystemExit(f"the run of the examples ended with exit code {code}")
    return next((folder / "runs" / "adapt").glob(f"*/{NAME}"))


def _busy(state: State) -> tuple[int, int, int]:
    """How much there is to see: all that a view shows, then as much of it as may be."""
    return len(state.in_state(RUNNING)), min(len(state.finished), 2), len(list(state.waits_for()))


def _nameless(events: Sequence[Happened]) -> Iterator[Happened]:
    began = datetime.fromisoformat(events[0].at)
    names: dict[str, str] = {"": ""}
    for event in events:
        data = json.loads(canonical(plain(event)))
        at = DAY + (datetime.fromisoformat(event.at) - began)
        data["at"] = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if event.request:
            data["request"] = names.setdefault(event.request, f"r{len(names)}")
        data["sweep"] = "example"
        made = event_in(canonical(data))
        assert made is not None
        yield made


if __name__ == "__main__":
    main(sys.argv[1:])
