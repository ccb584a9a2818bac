"""The log of events: followed while others write, half lines and all, and known to be in use or not."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.canonical import canonical
from harness2_core.model.events import Happened
from harness2_core.model.serial import plain
from harness2_core.sweep.event_log import Follower, event_in, held, hold
from harness2_core.sweep.events import Events
from harness2_core.testing.child import Child, say, until_released


def line(what: str) -> bytes:
    return canonical(plain(Happened(what, "2026-01-01T00:00:00Z"))) + b"\n"


def words(follower: Follower) -> list[str | None]:
    return [event.what if event is not None else None for event in follower.news()]


THREE: Final = line("one") + line("zwölf") + line("three")


@given(st.lists(st.integers(0, len(THREE)), max_size=8).map(sorted))
def test_a_log_that_grows_in_any_pieces_is_read_line_by_line_and_once(cuts: list[int]) -> None:
    read: list[str | None] = []
    with NamedTemporaryFile(buffering=0) as log:
        follower = Follower(Path(log.name))
        for start, end in zip([0, *cuts], [*cuts, len(THREE)], strict=True):
            log.write(THREE[start:end])
            read += words(follower)
        follower.close()

    assert read == ["one", "zwölf", "three"]


def test_a_log_that_is_not_there_yet_has_no_news_and_is_no_error(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "events.jsonl")
    before = words(follower)
    (tmp_path / "events.jsonl").write_bytes(line("one"))

    assert before == []
    assert words(follower) == ["one"]


@pytest.mark.parametrize(
    "damage",
    [b'{"what":"hal\n', b"\xff\xfe\n", b"\n", b"[]\n", b'{"what":1,"at":""}\n', b'{"at":"","of":"2031","what":"x"}\n'],
)
def test_what_is_no_event_of_this_version_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(line("one") + damage + line("two"))

    assert words(Follower(log)) == ["one", "two"]


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_another_log_in_its_place_is_told_and_read_from_its_beginning(tmp_path: Path, how: str) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(line("one") + line("two"))
    follower = Follower(log)
    list(follower.news())
    if how == "cut":
        log.write_bytes(line("new"))
    else:
        (tmp_path / "other").write_bytes(line("new") + line("newer") + line("newest"))
        (tmp_path / "other").rename(log)

    assert words(follower)[:2] == [None, "new"]
    assert words(follower) == []


def test_a_log_that_was_taken_away_ends_quietly(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(line("one"))
    follower = Follower(log)
    first = words(follower)
    log.unlink()

    assert (first, words(follower)) == (["one"], [])


def test_a_log_is_held_from_the_first_event_to_the_last(tmp_path: Path) -> None:
    log, seen = tmp_path / "events.jsonl", list[bool | None]()
    with Events(log, [("looks", lambda event: seen.append(held(log)))], print) as events:
        events.tell("sweep-started")

    assert seen == [True]
    assert held(log) is False
    assert held(tmp_path / "none") is False


def test_two_sweeps_on_one_log_hold_it_both_and_have_names_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    with Events(log, [], print) as one:
        one.tell("sweep-started")
        _wait_for(lambda: held(log) is True)  # its thread opens the log in its own time
        with Events(log, [], print) as two:
            two.tell("sweep-started")
        assert held(log) is True

    names = {event.sweep for text in log.read_bytes().splitlines() if (event := event_in(text))}
    assert len(names) == 2


def _wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)


def _hold(path: Path) -> None:
    with FileIO(path, "a") as log:
        hold(log)
        say("held")
        until_released()


@pytest.mark.process
def test_a_killed_sweep_holds_its_log_no_more(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    with Child(_hold, log) as child:
        assert child.line() == "held"
        before = held(log)
        child.kill()

        assert (before, held(log)) == (True, False)


def test_facts_that_must_be_computed_are_computed_on_the_thread_of_the_events(tmp_path: Path) -> None:
    told: list[Happened] = []
    notices: list[str] = []

    def broken() -> dict[str, str]:
        raise ValueError("the disk")

    with Events(None, [("listens", told.append)], notices.append) as events:
        events.tell("one", facts=lambda: {"usd": "1"})
        events.tell("two", facts=broken)

    assert [(event.what, dict(event.facts)) for event in told] == [("one", {"usd": "1"}), ("two", {})]
    assert notices == ["what two comes to cannot be told: the disk"]


def happenings(bench: Any, what: str) -> list[Happened]:
    return [event for event in bench.events if event.what == what]


def test_a_sweep_says_at_its_beginning_which_way_is_before_it(bench: Any) -> None:
    bench.task("sums/second")
    bench.run(only_tasks="sums/first")
    bench.events.clear()
    bench.run(modes="parallel,sequential", slots=3)
    (started,) = happenings(bench, "sweep-started")

    assert started.facts["stream"] == '[{"before":0,"domain":"sums","tasks":["sums/first","sums/second"]}]'
    assert started.facts["modes"] == '[["agg","parallel"],["seq","sequential"]]'
    assert started.facts["partly"] == '{"sums/first":["seq"]}'
    assert (started.facts["tasks"], started.facts["slots"]) == ("2", "3")
    assert int(started.facts["steps"]) == len(happenings(bench, "step-ended"))


def test_every_request_is_queued_started_and_ended_with_its_role(bench: Any) -> None:
    bench.run()
    queued, begun, ended = (happenings(bench, f"attempt-{what}") for what in ("queued", "started", "ended"))

    assert {event.request for event in queued} == {event.request for event in begun} == {e.request for e in ended}
    assert {event.facts["kind"] for event in queued} == {"rollout", "session"}
    assert {(event.facts["role"], event.facts["source"]) for event in ended} == {
        ("executor", "none"),
        ("improver", "none"),
        ("reflector", "none"),
    }
    assert {event.facts["draw"] for event in begun} >= {"base1", "inv1", "dom1", "agg1"}


def test_what_an_attempt_has_cost_is_told_when_it_is_lost_and_in_all_when_it_ends(bench: Any) -> None:
    bench.improver(
        "losing",
        """
        class Made(Scripted):
            lost = False

            def run(self, request, workspace, ctx):
                if request.kind == "inv" and not Made.lost:
                    Made.lost = True
                    raise Lost("rate-limit", "busy", wait_seconds=30, usage=Usage("0.25", source="stream"))
                said = super().run(request, workspace, ctx)
                return Said(said.outcome, said.text, Usage("0.5", source="stream"))
        """,
    )
    bench.run()
    (lost,), (waits,) = happenings(bench, "attempt-lost"), happenings(bench, "attempt-waits")
    (ended,) = (event for event in happenings(bench, "attempt-ended") if event.request == lost.request)

    assert (lost.facts["cause"], lost.facts["usd"]) == ("rate-limit", "0.25")
    assert int(waits.facts["seconds"]) >= 30
    assert (ended.facts["role"], ended.facts["usd"]) == ("improver", "0.75")


def test_what_is_held_back_is_told_with_its_reason(bench: Any) -> None:
    bench.run(max_rollouts=1)
    held_back = happenings(bench, "step-held")

    assert held_back != []
    assert all("--max-rollouts" in event.facts["why"] for event in held_back)


def test_judging_says_how_much_is_to_do_and_writes_no_log(bench: Any) -> None:
    from harness2_core.sweep.run import judge_sweep

    bench.run()
    log = next((bench.runs / "adapt").glob("*/events.jsonl"))
    before, told = log.read_bytes(), list[Happened]()
    judge_sweep(bench.config(**{"roles.judge.provider": "checks"}), "finals", listeners=[told.append])

    assert (told[0].what, told[0].facts["steps"]) == ("judging-started", "1")
    assert log.read_bytes() == before
