"""Streams of OpenCode become one trajectory: whole, cut, mixed with other words, or broken in any way."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from harness2_opencode.reading import PROVIDER_FAILED, UNENDED, read
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Action,
    Assistant,
    Ending,
    Exit,
    Failure,
    FileChange,
    Lost,
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
AGENT = Opencode(OpencodeSettings(binary="unused", ripgrep="unused"))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_streams", STREAMS / "make_streams.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = generator()
EXIT = Exit(0, None, False, False, Path("o"), Path("e"))
FAILED = Exit(1, None, False, False, Path("o"), Path("e"))
TIMED_OUT = Exit(None, 9, True, False, Path("o"), Path("e"))


def stream(name: str) -> bytes:
    return (STREAMS / f"{name}.jsonl").read_bytes()


def parsed(data: bytes | str, exit: Exit = EXIT, stderr: bytes = b"") -> Trajectory:
    return AGENT.parse([data if isinstance(data, bytes) else data.encode()], [stderr], exit)


def ending(data: bytes | str, exit: Exit) -> Ending | str:
    """How it ended, or the cause of the loss."""
    try:
        return ending_of(AGENT, parsed(data, exit), exit, delivered=False)
    except Lost as lost:
        return lost.cause


def test_the_streams_are_those_that_the_generator_makes(tmp_path: Path) -> None:
    MAKE.main(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in STREAMS.glob("*.jsonl")}


def test_everything_is_told_in_full_and_in_order() -> None:
    path = "/workspace/output/ü ☃.txt"
    diff = f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert parsed(stream("everything")).events == (
        Reasoning("Two files, I think."),
        Assistant("I look first."),
        Action("bash", '{"command": "ls", "description": "Look"}'),
        Observation("a.txt\n"),
        Action("read", '{"filePath": "/no"}'),
        Observation("File not found: /no", error=True),
        Action("write", f'{{"filePath": "{path}", "content": "one\\ntwo\\n"}}'),
        Observation("Wrote file."),
        FileChange(path, f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,2 @@\n+one\n+two\n"),
        Action("edit", f'{{"filePath": "{path}", "oldString": "two"}}'),
        Observation("Done."),
        FileChange(path, diff),
        Action("apply_patch", '{"patchText": "..."}'),
        Observation("Success."),
        FileChange(path, diff),
        Action("invalid", '{"tool": "x", "error": "no tool x"}'),
        Observation("no tool x", error=True),
        Reasoning("counter: I count."),
        Action("counter: bash", '{"command": "wc -l"}'),
        Observation("7\n"),
        Observation("counter: APIError: Overloaded (status 529)", error=True),
        Action("task", '{"prompt": "Count.", "subagent_type": "counter"}'),
        Observation("seven"),
        Assistant("Seven pebbles."),
    )


def test_tokens_are_those_of_the_agent_and_its_sub_agents_and_priced() -> None:
    usage = parsed(stream("everything")).usage
    assert usage.tokens == {
        "input": 600 + 100 + 1000 + 10 + 10,
        "output": 15 + 20 + 70 + 10 + 10,
        "reasoning": 5,
        "cache_read": 400,
        "cache_write": 50,
    }
    assert usage.source == "price list"
    assert float(usage.usd or 0) > 0


def test_an_amount_in_the_stream_goes_before_the_price_list_and_none_is_not_zero() -> None:
    usage = parsed(stream("odd")).usage
    assert (usage.usd, usage.source) == ("0.00068", "stream")
    usage = parsed(stream("out_of_steps")).usage
    assert (usage.usd, usage.source) == (None, "unknown")
    assert usage.tokens == {"input": 10, "output": 5}


def test_without_the_observer_it_is_said_that_sub_agents_are_not_counted() -> None:
    step = MAKE.event("step_finish", part=MAKE.finish(1, "stop", input=10, output=5))
    trajectory = parsed(step)
    assert trajectory.notes == ("what sub-agents used was not told, and is not counted",)
    assert trajectory.usage.usd is None


def test_what_is_not_understood_is_kept_and_counted() -> None:
    trajectory = parsed(stream("odd"))
    assert [event for event in trajectory.events if isinstance(event, Unknown)] == [
        Unknown("line", "(node:12) Warning: something else speaks here"),
        Unknown("session_forked", json.dumps(json.loads(stream("odd").splitlines()[2]))),
        Unknown("cut off", '{"type":"text","timestamp":17673230'),
    ]
    assert Assistant("Fine.") in trajectory.events
    assert trajectory.notes == (
        "answers cut at the limit of output tokens: 1",
        "events of unknown kinds: 1 × session_forked",
        "lines that are no events: 1",
        "the stream ended in the middle of an event",
    )


def test_a_call_that_never_ended_is_told() -> None:
    part = MAKE.tool(4, "bash", {"command": "sleep 9"}, status="running")
    begun = MAKE.told("running", part=part) + "\n"
    trajectory = parsed(begun, TIMED_OUT)
    assert trajectory.events[:2] == (Action("bash", '{"command": "sleep 9"}'), Observation(UNENDED))
    done = MAKE.event("tool_use", part=MAKE.tool(4, "bash", {"command": "sleep 9"}, output=""))
    assert Observation(UNENDED) not in parsed(begun + done).events


def test_a_provider_that_is_given_up_on_is_a_loss_with_its_wait() -> None:
    trajectory = parsed(stream("gave_up"), FAILED)
    lost = AGENT.loss(trajectory, FAILED)
    assert lost is not None
    assert (lost.cause, lost.wait_seconds) == ("rate-limit", 7)
    assert trajectory.notes == ("the provider was asked again, times: 5",)


@pytest.mark.parametrize("exit", [EXIT, FAILED], ids=["as if all were well", "failed"])
def test_a_long_wait_is_a_loss_whatever_the_exit_code(exit: Exit) -> None:
    lost = AGENT.loss(parsed(stream("long_wait"), exit), exit)
    assert lost is not None
    assert (lost.cause, lost.wait_seconds) == ("rate-limit", 1800)


def test_what_the_observer_says_of_the_end_stands_at_the_end() -> None:
    """Its lines come at once; what the CLI says of what went before comes later."""
    late = MAKE.event("tool_use", part=MAKE.tool(4, "bash", {}, output="late"))
    wait = MAKE.told("gave_up", message="slow down", wait_ms=61_000)
    assert parsed(f"{wait}\n{late}\n").events[-1] == Failure(
        f"{PROVIDER_FAILED}slow down (rate limit: retry after 61 s)"
    )


def test_a_time_limit_while_waiting_is_a_loss_unless_work_followed() -> None:
    wait = MAKE.told("retry", attempt=1, message="Overloaded", wait_ms=2000, at=1000)

    def text(end: int) -> str:
        return str(MAKE.event("text", part=MAKE.part(1, "text", text="Hello.", time={"start": 1, "end": end})))

    assert ending(wait, TIMED_OUT) == "provider"
    assert ending(f"{wait}\n{text(999)}", TIMED_OUT) == "provider", "that came before, and was told late"
    assert ending(f"{wait}\n{text(1001)}", TIMED_OUT) == Ending(Outcome.TIMED_OUT)
    assert ending(f"{text(999)}\n{wait}", EXIT) == Ending(Outcome.FINISHED)


def test_an_error_that_was_followed_by_work_is_none() -> None:
    error = MAKE.failed("ContextOverflowError", "maximum context length is 8 tokens")
    assert ending(f"{error}\n{MAKE.text(1, 'Summed up.')}", EXIT) == Ending(Outcome.FINISHED)
    assert ending(f"{MAKE.text(1, 'Much.')}\n{error}", FAILED) == Ending(
        Outcome.CRASHED, "ContextOverflowError: maximum context length is 8 tokens"
    )


def test_steps_refusals_and_answers_withheld_are_told_apart() -> None:
    out = ending(stream("out_of_steps"), FAILED)
    assert out == Ending(Outcome.OUT_OF_STEPS, "the agent was stopped at its limit of steps, 1")
    refused = MAKE.failed("APIError", "flagged by our safety system", statusCode=400)
    assert isinstance(told := ending(refused, FAILED), Ending)
    assert told.outcome is Outcome.REFUSED
    withheld = MAKE.event("step_finish", part=MAKE.finish(1, "content-filter", input=1))
    assert isinstance(told := ending(withheld, EXIT), Ending)
    assert told.outcome is Outcome.REFUSED
    assert isinstance(told := ending(MAKE.failed("MessageOutputLengthError", ""), FAILED), Ending)
    assert told.outcome is Outcome.CRASHED


def test_one_that_did_not_start_is_a_loss_with_its_words() -> None:
    lost = AGENT.loss(parsed("", FAILED, b"Error: no such option\x00\n"), FAILED)
    assert lost is not None
    assert lost.cause == "worker"
    assert "no such option" in lost.what


def test_one_that_ended_well_and_did_nothing_has_failed() -> None:
    told = ending(MAKE.told("began", model="m"), EXIT)
    assert isinstance(told, Ending)
    assert told.outcome is Outcome.CRASHED


def test_endings_that_the_stream_does_not_tell_are_told() -> None:
    exceeded = Exit(None, 9, False, True, Path("o"), Path("e"), Resources(exceeded="memory"))
    assert parsed("", exceeded).events == (Failure("the agent was stopped: it used more memory than allowed"),)
    assert parsed("", exceeded).notes == ("its output was longer than what is kept",)
    signal = Exit(None, 11, False, False, Path("o"), Path("e"))
    assert parsed(MAKE.text(1, "Hi."), signal).events[-1] == Failure("the agent was ended by signal 11")


@given(st.data())
def test_a_cut_stream_begins_as_the_whole_one_does(data: st.DataObject) -> None:
    whole = stream(data.draw(st.sampled_from(["everything", "odd", "gave_up"])))
    cut = data.draw(st.integers(0, len(whole)))
    events, all_events = read([whole[:cut]]).events, read([whole]).events
    told = [event for event in events if event != events[-1] or not isinstance(event, Unknown)]
    assert told == all_events[: len(told)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(["type", "part", "state", "text", "tool", "tokens", "time", "end", "error", "data", "event"])
_KINDS = st.sampled_from(
    ["text", "tool_use", "step_finish", "error", "reasoning", "harness2.sub_agent", "harness2.retry", "harness2.began"]
)
_LIKE = st.dictionaries(_KEYS, _JSON | st.dictionaries(_KEYS, _JSON, max_size=4), max_size=5)


@given(st.lists(st.tuples(_KINDS, _LIKE), max_size=4))
def test_events_of_any_form_are_read(lines: list[tuple[str, dict[str, object]]]) -> None:
    data = "\n".join(json.dumps({**fields, "type": kind}) for kind, fields in lines)
    render(parsed(data)).encode()


@given(st.binary(max_size=200), st.integers(0, 5000))
def test_foreign_bytes_in_the_middle_spoil_no_other_line(junk: bytes, at: int) -> None:
    lines = stream("everything").splitlines(keepends=True)
    place = at % len(lines)
    mixed = b"".join([*lines[:place], junk.replace(b"{", b"") + b"\n", *lines[place:]])
    expected = read([stream("everything")]).events
    assert [event for event in read([mixed]).events if not isinstance(event, Unknown)] == expected
