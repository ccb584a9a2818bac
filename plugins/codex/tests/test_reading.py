"""Streams of Codex become one trajectory: whole, cut, mixed with its log, or broken in any way."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from harness2_codex.ending import NEVER_BEGAN
from harness2_codex.reading import TURN_FAILED, read
from harness2_codex.substrate import Codex
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Action,
    Assistant,
    Exit,
    Failure,
    FileChange,
    Observation,
    Outcome,
    Reasoning,
    Resources,
    Trajectory,
    Unknown,
    ending_of,
    render,
)

STREAMS = Path(__file__).parent / "streams"
OVERFLOW = '{"type":"turn.failed","error":{"message":"maximum context length is 8 tokens"}}\n'
REFUSAL = '{"type":"turn.failed","error":{"message":"This request was flagged as unsafe: usage policy"}}\n'
STARTED = '{"type":"thread.started","thread_id":"t"}\n'


def stream(name: str) -> bytes:
    return (STREAMS / f"{name}.txt").read_bytes()


def parsed(data: bytes | str, code: int | None = 0, signal: int | None = None) -> Trajectory:
    whole = data if isinstance(data, bytes) else data.encode()
    return Codex().parse([whole], [], ended(code, signal))


def ended(code: int | None = 0, signal: int | None = None, timed_out: bool = False, exceeded: str = "") -> Exit:
    return Exit(code, signal, timed_out, False, Path("o"), Path("e"), Resources(exceeded=exceeded))


def item(number: int, kind: str, state: object = "completed", **fields: object) -> str:
    return json.dumps({"type": f"item.{state}", "item": {"id": f"item_{number}", "type": kind, **fields}}) + "\n"


def test_the_streams_are_those_that_the_generator_makes(tmp_path: Path) -> None:
    runpy.run_path(str(STREAMS / "make_streams.py"))["main"](tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in STREAMS.glob("*.txt")}


def test_every_kind_of_item_is_told_in_full_and_in_order() -> None:
    assert parsed(stream("everything")).events == (
        Reasoning("**Looking**\nfirst"),
        Assistant("I look at the files – ☃."),
        Action("shell", 'ls "a b"; exit 3'),
        Observation("a b\nno such\nexit code 3", error=True),
        Action("shell", "rm -rf kept"),
        Observation("Command blocked by PreToolUse hook: not here. Command: rm -rf kept", error=True),
        Action("apply_patch", ""),
        Observation("apply_patch verification failed: Failed to find expected lines in a.txt:\nold", error=True),
        Action("todo_list", "[x] look\n[ ] sort"),
        Action("apply_patch", "add /workspace/a.txt\nupdate /workspace/ü ☃.txt"),
        FileChange("/workspace/a.txt"),
        FileChange("/workspace/ü ☃.txt"),
        Action("shelf.find", '{"title": "Pebbles"}'),
        Observation("shelf 3"),
        Action("shelf.find", '{"title": "Pebbles"}'),
        Observation("the shelf is gone", error=True),
        Action("web_search", "weight of pebbles"),
        Action("spawn_agent", "Count them."),
        Observation("00000000-0000-7000-8000-000000000002"),
        Action("wait", ""),
        Observation("00000000-0000-7000-8000-000000000002: completed: seven"),
        Unknown("hologram", '{"id": "item_12", "type": "hologram", "depth": 3}'),
        Unknown("account.changed", '{"type": "account.changed", "plan": "other"}'),
        Unknown("line", "a program said this"),
        Assistant("Seven pebbles."),
    )


def test_warnings_are_notes_and_no_failures() -> None:
    notes = parsed(stream("everything")).notes
    assert notes[0].startswith("codex warns: Model metadata")
    assert not [note for note in notes if "hook-trust" in note], "that one is of our own making"
    assert "1 × hologram" in notes[-1]


def test_tokens_are_disjoint_and_those_of_sub_agents_among_them() -> None:
    usage = parsed(stream("everything")).usage
    assert usage.tokens == {
        "input": 200 + 1000,
        "cache_read": 900,
        "cache_write": 100,
        "output": 50 + 50,
        "reasoning": 30 + 30,
    }
    assert usage.source == "price list"


def test_the_log_counts_when_the_turn_never_ended() -> None:
    cut = stream("everything").partition(b'{"type":"turn.completed"')[0]
    tokens = parsed(cut, None, signal=9).usage.tokens
    assert tokens["input"] == (500 - 300 - 100) + 1000 + 0
    assert tokens["cache_read"] == 300 + 600


def test_a_model_that_nobody_names_has_tokens_and_no_price() -> None:
    usage = parsed(STARTED + '{"type":"turn.completed","usage":{"input_tokens":7}}\n').usage
    assert usage.tokens == {"input": 7}
    assert (usage.usd, usage.source) == (None, "unknown")


def test_an_item_stands_where_it_began_in_its_last_state() -> None:
    lines = [
        item(1, "command_execution", "started", command="ls", status="in_progress"),
        item(2, "agent_message", text="meanwhile"),
        item(1, "command_execution", command="ls", aggregated_output="a\n", exit_code=0, status="completed"),
    ]
    assert parsed("".join(lines)).events == (Action("shell", "ls"), Observation("a"), Assistant("meanwhile"))


def test_an_item_that_never_ended_says_so() -> None:
    trajectory = parsed(
        item(1, "command_execution", "started", command="sleep 9", status="in_progress"), None, signal=9
    )
    assert Observation("(it had not ended when the agent did)") in trajectory.events
    assert "of 1 action the stream does not tell the end" in trajectory.notes


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"exit_code": 3, "status": "completed"}, "exit code 3"),
        ({"exit_code": None, "status": "declined"}, "the command was declined"),
        ({"exit_code": None, "status": "failed"}, "the command failed"),
    ],
)
def test_a_command_that_did_not_end_well_is_an_error(end: dict[str, object], said: str) -> None:
    assert Observation(said, error=True) in parsed(item(1, "command_execution", command="ls", **end)).events


def test_a_diff_is_kept_where_one_is_told() -> None:
    changes = [{"path": "a", "kind": "update", "diff": "-1\n+2\n"}]
    assert FileChange("a", "-1\n+2\n") in parsed(item(1, "file_change", changes=changes, status="completed")).events


def test_a_patch_that_failed_changed_nothing() -> None:
    events = parsed(item(1, "file_change", changes=[{"path": "a", "kind": "add"}], status="failed")).events
    assert events == (Action("apply_patch", "add a"), Observation("the patch was not applied", error=True))


@pytest.mark.parametrize(
    ("told", "command"),
    [
        ("/bin/bash -lc 'ls -l'", "ls -l"),
        ("zsh -c ls", "ls"),
        ("ls -c x", "ls -c x"),
        ("/bin/bash -c 'unclosed", "/bin/bash -c 'unclosed"),
        ("python -c 'print(1)'", "python -c 'print(1)'"),
    ],
)
def test_a_command_is_what_the_model_asked_for(told: str, command: str) -> None:
    assert Action("shell", command) in parsed(item(1, "command_execution", command=told, exit_code=0)).events


def test_another_spacing_order_line_end_or_colour_changes_nothing() -> None:
    trajectory = parsed(stream("odd_spacing"))
    assert trajectory.events == (Assistant("hello"),)
    assert trajectory.usage.tokens == {"input": 7, "output": 2}
    assert trajectory.notes == ()


def test_giving_up_is_one_failure_and_a_loss_and_what_was_done_is_kept() -> None:
    trajectory = parsed(stream("gave_up"), 1)
    (failure,) = (event for event in trajectory.events if isinstance(event, Failure))
    assert failure.text.startswith(f"{TURN_FAILED}unexpected status 503")
    lost = Codex().loss(trajectory, ended(1))
    assert lost is not None
    assert lost.cause == "provider"
    assert Observation("a") in trajectory.events
    assert [note for note in trajectory.notes if "Reconnecting... 2/2" in note]


RETRY = '{"type":"error","message":"Reconnecting... 1/2 (Connection failed: error sending request)"}\n'


@pytest.mark.parametrize("after", ["", "\n", '{"type":'])
def test_an_end_while_codex_waits_to_ask_again_is_the_providers(after: str) -> None:
    trajectory = parsed(STARTED + RETRY + after, None, 9)
    lost = Codex().loss(trajectory, ended(None, 9, timed_out=True))
    assert lost is not None
    assert lost.cause == "network"


def test_an_end_after_codex_went_on_is_not() -> None:
    answered = next(line for line in stream("gave_up").decode().splitlines() if "response.completed" in line)
    for after in (answered + "\n", item(1, "agent_message", text="On.")):
        trajectory = parsed(STARTED + RETRY + after, None, 9)
        assert Codex().loss(trajectory, ended(None, 9, timed_out=True)) is None


def test_a_codex_that_never_began_is_a_loss_that_says_why() -> None:
    trajectory = parsed(stream("never_began"), 1)
    lost = Codex().loss(trajectory, ended(1))
    assert lost is not None
    assert (lost.cause, lost.what.startswith(NEVER_BEGAN)) == ("worker", True)
    assert "unknown configuration field `odd`" in lost.what


def test_a_refusal_and_a_context_that_is_full_are_the_models_doing() -> None:
    for text, outcome in ((OVERFLOW, Outcome.CRASHED), (REFUSAL, Outcome.REFUSED)):
        trajectory = parsed(STARTED + text, 1)
        assert Codex().loss(trajectory, ended(1)) is None
        told = Codex().outcome(trajectory, ended(1))
        assert told is not None
        assert told.outcome is outcome


def test_an_error_after_which_the_turn_went_on_is_a_note() -> None:
    error = '{"type":"error","message":"Incomplete response returned, reason: content_filter"}\n'
    trajectory = parsed(STARTED + error + item(1, "agent_message", text="Done.") + '{"type":"turn.completed"}\n')
    assert trajectory.events == (Assistant("Done."),)
    assert any("content_filter" in note for note in trajectory.notes)
    assert ending_of(Codex(), trajectory, ended(), delivered=True).outcome is Outcome.FINISHED


def test_words_of_a_tool_are_no_words_of_the_provider() -> None:
    said = item(1, "command_execution", command="curl", aggregated_output="HTTP 503 overloaded", exit_code=22)
    trajectory = parsed(STARTED + said + '{"type":"turn.completed","usage":{}}\n', 1)
    assert Codex().loss(trajectory, ended(1)) is None


@pytest.mark.parametrize(
    ("exit", "words"),
    [
        (ended(None, 9, timed_out=True), "stopped at its time limit"),
        (ended(None, 9, exceeded="memory"), "used more memory than allowed"),
        (ended(None, 11), "ended by signal 11"),
        (ended(3), "ended with exit code 3"),
    ],
)
def test_an_end_that_is_not_good_is_told(exit: Exit, words: str) -> None:
    trajectory = Codex().parse([STARTED.encode()], [], exit)
    assert words in render(trajectory)
    assert Codex().loss(trajectory, exit) is None


def test_lines_of_an_error_of_a_tool_stay_together_whatever_comes_between() -> None:
    log = "2026-01-02T03:04:05.678901Z ERROR codex_core::tools::router: error=one\ntwo {\nthree\n"
    assert parsed(log + item(1, "agent_message", text="after")).events[:2] == (
        Action("a tool", ""),
        Observation("one\ntwo {\nthree", error=True),
    )


def test_standard_error_may_also_come_apart() -> None:
    lines = stream("everything").splitlines(keepends=True)
    log = [line for line in lines if line.startswith(b"2026-")]
    events = [line for line in lines if not line.startswith(b"2026-")]
    trajectory = Codex().parse(events, log, ended())
    assert trajectory.usage == parsed(stream("everything")).usage
    assert Action("shell", "rm -rf kept") in trajectory.events


def test_of_any_beginning_of_a_stream_the_words_are_those_of_the_whole_so_far() -> None:
    def words(data: bytes) -> list[str]:
        return [event.text for event in read([data]).events if isinstance(event, Assistant | Reasoning)]

    @given(st.sampled_from(sorted(STREAMS.glob("*.txt"))), st.data())
    def holds(path: Path, data: st.DataObject) -> None:
        whole = path.read_bytes()
        begun = words(whole[: data.draw(st.integers(0, len(whole)))])
        assert begun == words(whole)[: len(begun)]

    holds()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = (
    "agent_message reasoning command_execution file_change mcp_tool_call web_search todo_list collab_tool_call error "
    "odd"
)
NAMES = (
    "id text command aggregated_output exit_code status changes items server tool arguments result error query message "
    "prompt receiver_thread_ids agents_states usage thread_id"
)


def test_fields_of_any_type_are_read_and_nothing_is_dropped() -> None:
    fields = st.dictionaries(st.sampled_from(NAMES.split()), JSON)

    @given(st.lists(st.tuples(st.sampled_from(KINDS.split()), fields), max_size=5))
    def holds(items: list[tuple[str, dict[str, object]]]) -> None:
        lines = [
            json.dumps({"type": "item.completed", "item": {**fields, "type": kind, "id": f"i{number}"}})
            for number, (kind, fields) in enumerate(items)
        ]
        trajectory = parsed("\n".join(lines))
        render(trajectory)
        shown = [kind for kind, _ in items if kind != "error"]
        assert len(trajectory.events) >= len(shown)

    holds()


def test_events_of_any_form_are_read() -> None:
    kinds = st.sampled_from(["thread.started", "turn.completed", "turn.failed", "error", "item.completed", "odd"])

    @given(st.lists(st.tuples(kinds, st.dictionaries(st.sampled_from(NAMES.split()), JSON)), max_size=5))
    def holds(events: list[tuple[str, dict[str, object]]]) -> None:
        trajectory = parsed("\n".join(json.dumps({**fields, "type": kind}) for kind, fields in events))
        render(trajectory)
        assert trajectory.usage.usd is None

    holds()
