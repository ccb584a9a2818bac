"""A drawing of what ran when, from the events of a real run in `docs/live.jsonl`: `docs/timeline.svg`.

    python tools/timeline_drawing.py            draws it
    python tools/timeline_drawing.py --check    says whether it is up to date; exit code 1 if it is not

A row is a task, a bar something paid: a run of a harness, a session of an editor, a reflection. Bars of one task that
overlap lie in lanes, one for each slot of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Final

from attrs import frozen
from plan_drawing import STYLE
from written_page import write

from harness2_core.model.events import Happened
from harness2_core.sweep.event_log import event_in

ROOT: Final = Path(__file__).resolve().parent.parent
EVENTS: Final = ROOT / "docs" / "live.jsonl"
DRAWING: Final = ROOT / "docs" / "timeline.svg"
TITLE: Final = (
    "What ran when in a run of nine tasks in three domains, with four slots: bases of later tasks are rolled ahead, "
    "and the domains do not wait for each other."
)

NAMES: Final = 158
SECOND: Final = 21
LANE: Final = 6
ROW_GAP: Final = 7
TOP: Final = 34
MARGIN: Final = 12
LOOKS: Final = {"executor": "run", "improver": "edit", "reflector": "pick"}
"""Role -> how its bars look; the colours of the plans."""
LEGEND: Final = (("run", "a run of a harness"), ("edit", "a session that edits"), ("pick", "a reflection"))


@frozen
class Bar:
    """One piece of paid work. Seconds count from the start of the run."""

    task: str
    look: str
    said: str
    begin: float
    end: float
    slot: int


def bars(events: Sequence[Happened]) -> list[Bar]:
    """In the order of their beginnings. What had not ended yet lasts to the last event."""
    start, last = _moment(events[0]), _moment(events[-1])
    ends = {event.request: _moment(event) for event in events if event.what == "attempt-ended"}
    found: list[Bar] = []
    for event in events:
        if event.what != "attempt-started":
            continue
        begin, end = _moment(event) - start, ends.get(event.request, last) - start
        taken = {bar.slot for bar in found if bar.end > begin}
        slot = next(number for number in range(len(found) + 1) if number not in taken)
        said = " ".join(filter(None, (event.task, event.mode, event.facts["draw"])))
        found.append(Bar(event.task, LOOKS[event.facts["role"]], said, begin, end, slot))
    return found


def drawing() -> str:
    """The drawing as SVG."""
    events = [event for line in EVENTS.read_bytes().splitlines() if (event := event_in(line)) is not None]
    found = bars(events)
    tasks = sorted({bar.task for bar in found})
    lanes = max(bar.slot for bar in found) + 1
    high = lanes * LANE + ROW_GAP
    width = NAMES + round(max(bar.end for bar in found) * SECOND) + MARGIN
    height = TOP + len(tasks) * high + MARGIN
    lines = [
        f'<svg class="plan" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(TITLE)}">',
        f"<title>{escape(TITLE)}</title>",
        STYLE,
        *_legend(),
    ]
    for row, task in enumerate(tasks):
        top = TOP + row * high
        if row and task.split("/")[0] != tasks[row - 1].split("/")[0]:
            lines.append(f'<path d="M{MARGIN} {top - ROW_GAP // 2}H{width - MARGIN}"/>')
        lines.append(f'<text class="head" x="{MARGIN}" y="{top + lanes * LANE // 2 + 4}">{escape(task)}</text>')
        for bar in found:
            if bar.task == task:
                x, long = NAMES + bar.begin * SECOND, max(1.0, (bar.end - bar.begin) * SECOND)
                lines.append(
                    f'<rect class="{bar.look}" x="{x:.1f}" y="{top + bar.slot * LANE}" width="{long:.1f}" '
                    f'height="{LANE}"><title>{escape(bar.said)}</title></rect>'
                )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _legend() -> Iterator[str]:
    x = NAMES
    for look, said in LEGEND:
        yield f'<rect class="{look}" x="{x}" y="9" width="14" height="9"/>'
        yield f'<text class="head" x="{x + 20}" y="18">{said}</text>'
        x += 40 + 6 * len(said)


def _moment(event: Happened) -> float:
    return datetime.fromisoformat(event.at).timestamp()


FILES: Final = {DRAWING: drawing}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
