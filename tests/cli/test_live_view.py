"""The view as lines: it fits any terminal, shows what matters first, and obeys no text that others wrote."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from harness2_core.cli.live.layout import ASCII, BLOCKS, Glyphs, Row, bar, clock, cut, ends, grid, shares
from harness2_core.cli.live.state import State
from harness2_core.cli.live.view import lines_of, picture
from harness2_core.model.events import Happened
from harness2_core.sweep.event_log import event_in

RECORDED: Final = Path(__file__).parent.parent.parent / "docs" / "live.jsonl"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
NOW: Final = START.timestamp() + 100


def state_of(*events: Happened) -> State:
    state = State()
    for event in events:
        state = state.after(event)
    return state


def recorded() -> list[State]:
    """The states of a real run, one after another."""
    states = [State()]
    for line in RECORDED.read_bytes().splitlines():
        event = event_in(line)
        assert event is not None
        states.append(states[-1].after(event))
    return states


def happened(what: str, request: str = "", task: str = "", **facts: str) -> Happened:
    at = (START + timedelta(seconds=int(facts.pop("second", 0)))).isoformat()
    return Happened(what, at, task=task, mode="agg", label="inv1", kind="stage", request=request, facts=facts)


def started(*domains: str) -> Happened:
    stream = [{"domain": domain, "tasks": [f"{domain}/{n}" for n in "ab"], "before": 0} for domain in domains]
    return happened(
        "sweep-started", namespace="toy-py-agg1", steps="9", slots="4", stream=json.dumps(stream), modes='[["agg","p"]]'
    )


def shown(state: State, width: int = 100, height: int = 40, glyphs: Glyphs = BLOCKS, note: str = "") -> str:
    return "\n".join(line.plain for line in lines_of(state, NOW, width, height, glyphs, note))


STATES: Final = recorded()
HOSTILE: Final = "\x1b[2J\x1b]0;title\x07[red]bold[/red] :smile: \u202etxt\nnext 漢字" * 3


@given(
    st.sampled_from([*STATES, state_of(started(*"abcdefghij"))]),
    st.integers(1, 200),
    st.integers(1, 60),
    st.sampled_from([BLOCKS, ASCII]),
)
def test_it_fits_a_terminal_of_any_size(state: State, width: int, height: int, glyphs: Glyphs) -> None:
    lines = lines_of(state, NOW, width, height, glyphs, note="stopping")

    assert len(lines) <= height
    assert max((line.cell_len for line in lines), default=0) <= width


@pytest.mark.parametrize("width", [1, 7, 20, 80])
def test_foreign_text_is_shown_and_not_obeyed(width: int) -> None:
    state = state_of(
        happened("sweep-started", namespace=HOSTILE, steps="2", modes=json.dumps([["agg", HOSTILE]])),
        happened("attempt-started", "r", HOSTILE, kind=HOSTILE, role=HOSTILE, draw=HOSTILE),
        happened("attempt-lost", "s", HOSTILE, cause=HOSTILE),
        happened("attempt-ended", "t", role=HOSTILE, usd="1"),
        happened("step-held", why=HOSTILE),
    )
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=300)
    with console.capture() as captured:
        console.print(picture(state, NOW, width, 40, note=HOSTILE))
    text = captured.get()

    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert len(text.splitlines()) == len(lines_of(state, NOW, width, 40, note=HOSTILE))
    if width == 80:
        assert "\\x1b[2J\\x1b]0;title\\x07[red]bold[/red] :smile: \\u202etxt next" in text


def test_ascii_glyphs_are_all_that_an_ascii_terminal_gets() -> None:
    busiest = STATES[-1]

    assert shown(busiest, glyphs=ASCII).isascii()
    assert shown(busiest, width=30, height=9, glyphs=ASCII).isascii()


def test_nothing_is_shown_before_anything_has_begun() -> None:
    assert lines_of(State(), NOW, 80, 24) == []


def test_it_tells_what_runs_for_how_long_and_which_slots_it_takes() -> None:
    state = state_of(
        started("sums"),
        happened("attempt-started", "a", "sums/a", kind="session", role="improver", second="40"),
        happened("attempt-started", "b", "sums/b", kind="rollout", role="executor", second="90"),
        happened("attempt-queued", "c", "sums/b", kind="rollout"),
    )
    text = shown(state)

    assert "2/4 slots · 1 session · 1 rollout · 1 waiting for a slot" in text
    assert [line.split() for line in text.splitlines() if "inv1" in line] == [
        ["sums/a", "p", "inv1", "improver", "1:00"],
        ["sums/b", "p", "inv1", "rollout", "0:10"],
    ]


def test_it_tells_what_waits_on_what_and_until_when() -> None:
    state = state_of(
        started("sums"),
        happened("attempt-lost", "a", "sums/a", cause="rate-limit", second="90"),
        happened("attempt-waits", "a", "sums/a", seconds="45", second="90"),
        happened("attempt-elsewhere", "b", "sums/a", kind="rollout", second="40"),
        Happened("step-ended", START.isoformat(), task="sums/b", kind="bases"),
    )
    text = " ".join(shown(state).split())

    assert "rate-limit again in 0:35" in text
    assert "another process has it 1:00" in text
    assert "sums/b p for sums/a" in text
    assert "lost 1 rate-limit" in text


def test_the_price_of_lost_attempts_is_spent_while_the_request_still_waits() -> None:
    state = state_of(
        started("sums"),
        happened("attempt-ended", "a", role="executor", usd="1.50"),
        happened("attempt-started", "b", role="executor"),
        happened("attempt-lost", "b", cause="network", usd="0.25"),
    )

    assert "executor 1.75 USD" in shown(state)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"usd": "0.00126", "source": "stream"}, "executor 0.0013 USD"),
        ({"source": "unknown"}, "executor price unknown"),
        ({"usd": "0", "source": "none"}, "nothing: no model took part"),
        ({"usd": "12.3", "source": "gateway"}, "executor 12.30 USD"),
    ],
)
def test_an_unknown_price_is_not_zero_and_no_model_is_no_price(facts: dict[str, str], words: str) -> None:
    assert words in shown(state_of(started("sums"), happened("attempt-ended", "a", role="executor", **facts)))


def test_on_a_narrow_terminal_elapsed_time_outlives_all_but_the_task() -> None:
    state = state_of(started("sums"), happened("attempt-started", "a", "sums/a", kind="rollout", second="40"))

    assert "  sums/a  inv1  1:00" in shown(state, width=20)
    assert "  sums/a     1:00" in shown(state, width=17)
    assert "  sum… 1:00" in shown(state, width=11)


def test_on_a_low_terminal_what_is_left_out_is_counted() -> None:
    runs = [happened("attempt-started", f"r{n}", f"sums/{n}", kind="rollout", second=str(n)) for n in range(9)]
    lines = shown(state_of(started("sums"), *runs), height=9).splitlines()

    assert len(lines) == 9
    assert [line.split()[0] for line in lines if "inv1" in line] == ["sums/0", "sums/1", "sums/2", "sums/3"]
    assert lines[-1].split() == ["…", "5", "more"]


@pytest.mark.parametrize("height", [1, 2, 5, 40])
def test_a_note_is_last_whatever_must_give_way_to_it(height: int) -> None:
    assert shown(STATES[-1], height=height, note="stopping: x").splitlines()[-1] == "stopping: x"


def test_an_ended_sweep_says_so_and_its_clock_stands() -> None:
    text = shown(state_of(started("sums"), happened("sweep-ended", exit="2", second="7")))

    assert "ended with exit code 2" in text
    assert text.splitlines()[0].endswith("0:07")


def test_the_bar_of_a_domain_grows_with_each_mode_of_a_task() -> None:
    modes = json.dumps([["agg", "p"], ["seq", "s"]])
    stream = json.dumps([{"domain": "sums", "tasks": ["sums/a"], "before": 0}])
    begun = Happened("sweep-started", START.isoformat(), facts={"stream": stream, "modes": modes})
    opened = Happened("step-started", START.isoformat(), task="sums/a", kind="bases")
    closed = Happened("step-ended", START.isoformat(), task="sums/a", mode="agg", kind="close")

    assert "sums  ▒▒▒▒▒▒▒▒▒▒▒▒  0/1  1 begun" in shown(state_of(begun, opened))
    assert "sums  ██████▒▒▒▒▒▒  0/1  1 begun" in shown(state_of(begun, opened, closed))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(1, 40))
def test_a_bar_is_as_wide_as_asked_and_full_only_when_all_is_done(done: int, now: int, more: int, width: int) -> None:
    line = bar(done, now, done + now + more, width, BLOCKS)

    assert line.cell_len == width
    assert (line.plain == BLOCKS.done * width) == (done > 0 and not now and not more)
    assert (BLOCKS.now in line.plain) <= (now > 0)


@given(
    st.text(max_size=40),
    st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=9),
    st.integers(0, 40),
)
def test_a_line_keeps_to_its_width_with_whatever_is_at_its_right_end(left: str, right: str, width: int) -> None:
    assert cut(Text(left), width, BLOCKS).cell_len <= width
    assert ends(Text(left), right, width, BLOCKS).cell_len <= max(width, 0)


@given(st.lists(st.integers(0, 30), max_size=5), st.integers(-5, 60))
def test_sections_share_the_height_and_the_short_ones_get_all_they_want(wanted: list[int], height: int) -> None:
    given_ = shares(wanted, height)

    assert sum(given_) == min(sum(wanted), max(height, 0))
    assert all(got <= want for got, want in zip(given_, wanted, strict=True))
    largest = max(given_, default=0)
    assert all(got >= largest - 1 for got, want in zip(given_, wanted, strict=True) if got < want)


def test_columns_give_way_in_the_order_that_was_asked_for() -> None:
    rows = [Row((Text("task"), Text("mode"), Text("label"), Text("what")), "0:01")]

    assert [grid(rows, width, (3, 1, 2), BLOCKS, 0)[0].plain for width in (40, 20, 15, 11)] == [
        "task  mode  label  what             0:01"[:40],
        "task  label     0:01",
        "task       0:01",
        "task   0:01",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(-5, "0:00"), (7.9, "0:07"), (751, "12:31"), (3723, "1:02:03"), (360000, "100:00:00")]
)
def test_a_clock_reads_as_people_say_it(seconds: float, words: str) -> None:
    assert clock(seconds) == words
