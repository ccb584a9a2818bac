"""Drawings of plans, from the plans themselves: `docs/plan-<mode>.svg` for each mode that comes along, at k = 2.

    python tools/plan_drawing.py            draws them
    python tools/plan_drawing.py --check    says whether they are up to date; exit code 1 if one is not

Time goes from left to right: a box stands right of all that it waits for. Colours are variables with values for light
and dark, so a drawing that stands in a page follows the page's scheme, and one that is opened alone the system's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Final, TypeAlias

from written_page import write

from harness2_core.cli.plan_graph import PICK, Arrow, Box, arrows, boxes
from harness2_core.model.plan import Plan
from harness2_core.plugins import facade
from harness2_core.plugins.registry import Registry

ROOT: Final = Path(__file__).resolve().parent.parent
K: Final = 2
WORDS: Final = {
    "parallel": "edits of both kinds side by side, then compositions of all that they wrote",
    "sequential": "rounds of two edits and a composition, each from the checkpoint before",
    "sampling": "a control: the same number of rollouts, all of the unmodified harness",
    "null": "a control: the plan of parallel, with editors that are asked to keep everything",
}
"""Mode -> what its drawing shows, for those who cannot see it."""

WIDE: Final = 84
HIGH: Final = 46
GAP_X: Final = 44
GAP_Y: Final = 18
EDGE: Final = 14
CAPTION: Final = 48
TALLEST: Final = 4
"""Boxes above each other."""

Spot: TypeAlias = tuple[int, int]
"""The left upper corner of a box."""

STYLE: Final = """\
<style>
svg.plan{--ink:#1f2328;--faint:#8b949e;--run:#ddf4e4;--edit:#dbeafe;--pick:#fdecc8;--line:#57606a;font-family:inherit}
@media (prefers-color-scheme:dark){svg.plan{--ink:#e6edf3;--faint:#7d8590;--run:#173d27;--edit:#17335c;--pick:#4a3510;\
--line:#9da7b3}}
svg.plan text{fill:var(--ink);font-size:13px;text-anchor:middle}
svg.plan .small{font-size:10.5px;fill:var(--ink);opacity:.8}
svg.plan .head{font-size:11.5px;fill:var(--ink);text-anchor:start}
svg.plan rect{stroke:var(--line);stroke-width:1}
svg.plan .run{fill:var(--run)}svg.plan .edit{fill:var(--edit)}svg.plan .pick{fill:var(--pick)}
svg.plan .final{stroke-width:2.4}svg.plan .frame{fill:none;stroke:var(--faint);stroke-dasharray:4 4}
svg.plan path{fill:none;stroke:var(--faint);stroke-width:1;opacity:.65}
svg.plan .start{stroke:var(--line);stroke-width:1.8;opacity:1}
</style>"""


def columns(found: tuple[Box, ...]) -> dict[str, int]:
    """Label -> column: one right of the last that it waits for; the pick stands in a column of its own."""
    depth: dict[str, int] = {}
    for box in found:
        depth[box.label] = max((depth[label] for label in box.waits), default=-1) + 1
    return depth


def drawing(name: str, plan: Plan) -> str:
    """The plan as SVG."""
    found = boxes(plan)
    depth = columns(found)
    rows = {column: [box for box in found if depth[box.label] == column] for column in sorted(set(depth.values()))}
    place, frame = _places(rows)
    width = max(x for x, _ in place.values()) + WIDE + EDGE
    height = max(y for _, y in place.values()) + HIGH + EDGE
    title = f"The plan of {name} at k = {K}: {WORDS[name]}."
    lines = [
        f'<svg class="plan" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        STYLE,
        f'<text class="head" x="{EDGE}" y="16">{escape(name)}, k = {K}: {plan.rollouts} rollouts, '
        f"{plan.sessions} stages</text>",
        *(_framed(frame, place[PICK]) if frame else _edges(found, place, depth)),
        *(part for box in found for part in _box(box, *place[box.label])),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def page(name: str) -> str:
    return drawing(name, facade.mode(Registry.installed(), name).plan(K))


def _places(rows: Mapping[int, list[Box]]) -> tuple[Mapping[str, Spot], tuple[int, int, int, int] | None]:
    """Where each box stands. Rolls alone stand in two columns with a frame around: left, top, width, height."""
    fold = 2 if len(rows) == 2 and len(rows[0]) > TALLEST else 1
    highest = max(-(-len(inside) // fold) if column == 0 else len(inside) for column, inside in rows.items())
    step = HIGH + GAP_Y
    x, frame, place = EDGE, None, dict[str, Spot]()
    for column, inside in rows.items():
        wide = fold if column == 0 else 1
        high = -(-len(inside) // wide)
        top = CAPTION + (highest - high) * step // 2
        if wide > 1:
            x += EDGE
            frame = (x - EDGE, top - EDGE // 2, wide * (WIDE + EDGE) + EDGE, high * step - GAP_Y + EDGE)
        for number, box in enumerate(inside):
            across, down = divmod(number, high)
            place[box.label] = (x + across * (WIDE + EDGE), top + down * step)
        x += wide * (WIDE + EDGE) - EDGE + GAP_X
    return place, frame


def _box(box: Box, x: int, y: int) -> Iterator[str]:
    look = f"{box.look} final" if box.final else box.look
    below = "blind" if box.look == "pick" else f"{box.template}, run" if box.template else "run"
    yield f'<rect class="{look}" x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6"/>'
    yield f'<text x="{x + WIDE // 2}" y="{y + 20}">{escape(box.label)}</text>'
    yield f'<text class="small" x="{x + WIDE // 2}" y="{y + 36}">{escape(below)}</text>'


def _framed(frame: tuple[int, int, int, int], pick: Spot) -> Iterator[str]:
    x, y, width, height = frame
    middle = pick[1] + HIGH // 2
    yield f'<rect class="frame" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
    yield f'<path class="start" d="M{x + width} {middle}H{pick[0]}"/>'


def _edges(found: tuple[Box, ...], place: Mapping[str, Spot], depth: Mapping[str, int]) -> Iterator[str]:
    """Faint: it is given what that one left. Strong: it goes on from that one's tree, or that one may be picked."""
    for from_, to, meaning in arrows(found):
        yield _edge(place[from_], place[to], depth[to] - depth[from_], meaning)


def _edge(from_: Spot, to: Spot, columns: int, meaning: Arrow) -> str:
    look = "" if meaning == "given" else ' class="start"'
    if columns > 1:  # over the boxes between
        x1, x2, y = from_[0] + WIDE // 2, to[0] + WIDE // 2, CAPTION - 6 * columns
        up, down = f"C{x1} {y} {x1} {y} {x1 + EDGE * 2} {y}", f"C{x2} {y} {x2} {y} {x2} {to[1]}"
        return f'<path{look} d="M{x1} {from_[1]}{up}H{x2 - EDGE * 2}{down}"/>'
    x1, y1, x2, y2 = from_[0] + WIDE, from_[1] + HIGH // 2, to[0], to[1] + HIGH // 2
    bend = max(18, (x2 - x1) // 2)
    return f'<path{look} d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"/>'


FILES: Final = {ROOT / "docs" / f"plan-{name}.svg": partial(page, name) for name in WORDS}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
