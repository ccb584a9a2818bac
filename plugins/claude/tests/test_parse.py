"""Streams as Claude Code writes them, made here line by line, and what they become."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from harness2_claude.reading import read
from harness2_claude.settings import ClaudeSettings
from harness2_claude.spent import KNOWN
from harness2_claude.substrate import Claude
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Action,
    Assistant,
    Exit,
    Failure,
    FileChange,
    HarnessTree,
    Observation,
    Outcome,
    Reasoning,
    Resources,
    Substrate,
    Trajectory,
    Unknown,
    Usage,
    ending_of,
)
from harness2_core.testing import SubstrateContract

Value = dict[str, object]
MODEL = "claude-sonnet-4-5"


# -- lines of a stream


def system(subtype: str, **more: object) -> Value:
    return {"type": "system", "subtype": subtype, "session_id": "s", **more}


def assistant(*content: Value, id: str = "m1", model: str = MODEL, parent: str | None = None, **usage: int) -> Value:
    counted = {"input_tokens": 10, "output_tokens": 1, **usage}
    message = {"id": id, "role": "assistant", "model": model, "content": [*content], "usage": counted}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def said(text: str) -> Value:
    return {"type": "text", "text": text}


def call(name: str, id: str = "t1", **given: object) -> Value:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def answered(
    text: object, id: str = "t1", *, error: bool = False, told: object = None, parent: str | None = None
) -> Value:
    result = {"type": "tool_result", "tool_use_id": id, "content": text, **({"is_error": True} if error else {})}
    return {
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "parent_tool_use_id": parent,
        **({} if told is None else {"tool_use_result": told}),
    }


def gave_up(text: str, error: str) -> Value:
    return {**assistant(said(text), id="own", model="<synthetic>", input_tokens=0, output_tokens=0), "error": error}


def result(
    subtype: str = "success", *, usd: float = 0.5, models: Mapping[str, object] | None = None, **more: object
) -> Value:
    used = {MODEL: {"inputTokens": 30, "outputTokens": 20, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 3}}
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": subtype != "success",
        "result": "",
        "total_cost_usd": usd,
        "usage": {"input_tokens": 20, "output_tokens": 10},
        "modelUsage": used if models is None else models,
        "permission_denials": [],
        **more,
    }


INIT = system("init", model=MODEL, tools=["Bash"])
WORK = (INIT, assistant(said("Looking."), call("Bash", command="ls", description="List")), answered("a.txt"))


def stream(*values: Value) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def parsed(*values: Value, code: int | None = 0, stderr: bytes = b"", timed_out: bool = False) -> Trajectory:
    return Claude().parse([stream(*values)], [stderr], ended(code, timed_out=timed_out))


def ended(code: int | None = 0, *, timed_out: bool = False) -> Exit:
    signal = 9 if code is None else None
    return Exit(code, signal, timed_out, False, Path("stdout"), Path("stderr"), Resources())


def outcome(*values: Value, code: int | None = 0, timed_out: bool = False) -> Outcome:
    trajectory = parsed(*values, code=code, timed_out=timed_out)
    return ending_of(Claude(), trajectory, ended(code, timed_out=timed_out), delivered=False).outcome


def cause(*values: Value, code: int | None = 1, stderr: bytes = b"", timed_out: bool = False) -> str:
    trajectory = parsed(*values, code=code, stderr=stderr, timed_out=timed_out)
    lost = Claude().loss(trajectory, ended(code, timed_out=timed_out))
    return "" if lost is None else lost.cause


# -- what an agent does


def test_words_thoughts_calls_and_answers_come_in_order() -> None:
    thought: Value = {"type": "thinking", "thinking": "Which file?", "signature": "x"}
    assert parsed(INIT, assistant(thought, said("Looking."), call("Read", file_path="a")), answered("1\tx")).events == (
        Reasoning("Which file?"),
        Assistant("Looking."),
        Action("Read", '{"file_path": "a"}'),
        Observation("1\tx"),
    )


def test_answers_stand_at_their_calls_when_several_were_made_at_once() -> None:
    calls = [assistant(call("Bash", f"t{n}", command=f"echo {n}")) for n in (1, 2)]
    events = parsed(INIT, *calls, answered("2", "t2"), answered("Exit code 1", "t1", error=True)).events
    one, two = (
        (Action("Bash", "echo 1"), Observation("Exit code 1", error=True)),
        (Action("Bash", "echo 2"), Observation("2")),
    )
    assert events == (*one, *two)


def test_a_shell_command_is_told_as_the_shell_reads_it_and_others_as_json() -> None:
    given = {"command": "cat <<'E'\na\nE", "description": "Two\nlines"}
    odd = {"command": "ls", "timeout": 5}
    (first, second) = parsed(assistant(call("Bash", **given), call("Bash", "t2", **odd))).events
    assert first == Action("Bash", "# Two lines\ncat <<'E'\na\nE")
    assert second == Action("Bash", '{"command": "ls", "timeout": 5}')


def test_an_answer_may_come_in_parts_of_which_some_are_no_text() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 100}}
    other = {"type": "tool_reference", "tool_name": "X"}
    events = parsed(*WORK[:2], answered([said("one"), image, other])).events
    assert events[-1] == Observation('one\n[image image/png]\n{"type": "tool_reference", "tool_name": "X"}')


def test_a_change_of_a_file_bears_the_diff_that_the_stream_tells() -> None:
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-hi", "+ho", " there"]}
    edit = call("Edit", file_path="/workspace/a", old_string="hi", new_string="ho")
    told = {"filePath": "/workspace/a", "structuredPatch": [hunk]}
    assert parsed(assistant(edit), answered("updated", told=told)).events[-1] == FileChange(
        "/workspace/a", "--- /workspace/a\n+++ /workspace/a\n@@ -1,2 +1,2 @@\n-hi\n+ho\n there\n"
    )


def test_a_new_file_and_an_edit_without_a_diff_are_told_by_their_calls() -> None:
    write = call("Write", file_path="b", content="x\ny\n")
    made = parsed(assistant(write), answered("created", told={"type": "create", "structuredPatch": []})).events[-1]
    assert made == FileChange("b", "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n")
    edit = call("Edit", file_path="b", old_string="x", new_string="z")
    assert parsed(assistant(edit), answered("updated")).events[-1] == FileChange("b", "--- b\n+++ b\n@@ @@\n-x\n+z\n")


def test_a_change_that_failed_is_none() -> None:
    edit = call("Edit", file_path="b", old_string="x", new_string="z")
    assert parsed(assistant(edit), answered("no such text", error=True)).events[-1] == Observation("no such text", True)


def test_what_a_sub_agent_does_bears_its_name_and_its_answer_stands_behind() -> None:
    events = parsed(
        INIT,
        assistant(call("Agent", "t1", subagent_type="checker", prompt="Check it.")),
        {"type": "user", "message": {"content": [said("Check it.")]}, "parent_tool_use_id": "t1"},
        assistant(said("Hm."), call("Bash", "t2", command="ls"), id="m2", parent="t1"),
        answered("a", "t2", parent="t1"),
        answered([said("It is fine.")], "t1"),
    ).events
    assert events == (
        Action("Agent", '{"subagent_type": "checker", "prompt": "Check it."}'),
        Reasoning("checker: Hm."),
        Action("checker: Bash", "ls"),
        Observation("a"),
        Observation("It is fine."),
    )


def test_the_body_of_a_skill_is_shown_where_it_was_loaded() -> None:
    body = {"type": "user", "message": {"content": [said("Sort by weight.")]}, "isSynthetic": True}
    events = parsed(assistant(call("Skill", skill="pebbles")), answered("Launching skill: pebbles"), body).events
    assert events[1:] == (Observation("Launching skill: pebbles"), Observation("Sort by weight."))


def test_unknown_events_are_kept_and_counted() -> None:
    hologram = {"type": "hologram", "n": 1}
    trajectory = parsed(INIT, hologram, system("dream"), assistant({"type": "smell"}), hologram)
    kinds = [event.kind for event in trajectory.events if isinstance(event, Unknown)]
    assert kinds == ["hologram", "system dream", "content smell", "hologram"]
    assert "events of unknown kinds: content smell (1), hologram (2), system dream (1)" in trajectory.notes


def test_words_of_other_programs_between_the_events_are_kept() -> None:
    data = (
        stream(INIT).replace(b'": ', b'" :  ')
        + b"warning: \x00\xff\n"
        + stream(assistant(said("Hi.")))
        + b'{"type": "as'
    )
    trajectory = Claude().parse([data], [], ended())
    assert trajectory.events == (
        Unknown("text", "warning: \ufffd"),
        Assistant("Hi."),
        Unknown("cut off", '{"type": "as'),
    )
    assert "lines that are no events: 1" in trajectory.notes
    assert "the stream ended in the middle of an event" in trajectory.notes


def test_hooks_retries_and_stopped_calls_are_notes() -> None:
    hook = system("hook_response", hook_name="SessionStart:startup", outcome="error", stderr="no such file")
    retry = system("api_retry", error="overloaded", error_status=529)
    told = system("notification", text="Stop hook error occurred", priority="immediate")
    stopped = result(permission_denials=[{"tool_name": "Bash"}, {"tool_name": "Bash"}])
    trajectory = parsed(hook, INIT, retry, retry, told, assistant(said("Done.")), stopped)
    assert trajectory.events == (Assistant("Done."),)
    assert trajectory.notes == (
        "the provider was asked again, times: 2",
        "hook SessionStart:startup failed: no such file",
        "claude says: Stop hook error occurred",
        "calls that a hook or missing rights stopped: Bash (2)",
    )


# -- how it ended


def test_a_run_that_ended_well_is_finished_whatever_failed_on_the_way() -> None:
    lost_once = gave_up("API Error: 500 oops", "server_error")
    assert outcome(*WORK, lost_once, assistant(said("Done."), id="m2"), result()) is Outcome.FINISHED
    assert cause(*WORK, lost_once, assistant(said("Done."), id="m2"), code=1) == ""


def test_one_that_ends_well_without_having_done_anything_has_failed() -> None:
    assert outcome(INIT, result()) is Outcome.CRASHED
    assert outcome(code=0) is Outcome.CRASHED


def test_out_of_turns_is_no_crash() -> None:
    stopped = result("error_max_turns", errors=["Reached maximum number of turns (2)"])
    assert outcome(*WORK, stopped, code=1) is Outcome.OUT_OF_STEPS
    assert parsed(*WORK, stopped, code=1).events[-1] == Failure(
        "the agent was stopped at a limit of its own: Reached maximum number of turns (2)"
    )


def test_a_refusal_is_told_apart() -> None:
    words = "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy"
    assert outcome(*WORK, gave_up(words, "invalid_request"), result(is_error=True), code=1) is Outcome.REFUSED


def test_a_full_context_is_the_agent_s_own_doing() -> None:
    assert (
        outcome(*WORK, gave_up("Prompt is too long", "invalid_request"), result(is_error=True), code=1)
        is Outcome.CRASHED
    )
    own = gave_up("API Error: the response exceeded the output token maximum", "max_output_tokens")
    assert outcome(*WORK, own, result(is_error=True), code=1) is Outcome.CRASHED


@pytest.mark.parametrize(
    ("text", "error", "status", "expected"),
    [
        ("Failed to authenticate. API Error: 401 bad key", "authentication_failed", 401, "access"),
        ("There's an issue with the selected model (x). It may not exist", "model_not_found", 404, "access"),
        ("API Error: Request rejected (429) · slow down", "rate_limit", 429, "rate-limit"),
        ("API Error: 529 busy", "server_error", 529, "provider"),
        ("API Error: 500 oops", "server_error", 500, "provider"),
        ("API Error: 422 what is that", "invalid_request", 422, "provider"),
        ("Credit balance is too low", "billing_error", 400, "budget"),
        ("API Error: Unable to connect to API (ConnectionRefused)", "server_error", None, "network"),
        ("API Error: Connection to the API was lost (ECONNRESET).", "server_error", None, "network"),
    ],
)
def test_what_the_provider_or_the_network_did_is_a_loss(
    text: str, error: str, status: int | None, expected: str
) -> None:
    last = result(is_error=True, result=text, api_error_status=status)
    assert cause(*WORK, gave_up(text, error), last) == expected
    assert cause(*WORK, last) == expected
    events = parsed(*WORK, gave_up(text, error), last, code=1).events
    (failure,) = [event.text for event in events if isinstance(event, Failure)]
    assert failure.startswith(f"claude gave up: {text} ({error}")


def test_how_long_the_provider_asked_to_wait_is_told_with_the_loss() -> None:
    retry = system("api_retry", error="rate_limit", error_status=429, retry_delay_ms=40_000.0)
    last = gave_up("API Error: Request rejected (429) · slow down", "rate_limit")
    trajectory = parsed(*WORK, retry, last, result(is_error=True, api_error_status=429), code=1)
    lost = Claude().loss(trajectory, ended(1))
    assert lost is not None
    assert (lost.cause, lost.wait_seconds) == ("rate-limit", 40)


def test_a_wait_for_the_provider_that_the_time_limit_ended_is_a_loss() -> None:
    retry = system("api_retry", error="overloaded", error_status=529)
    assert cause(*WORK, retry, code=None, timed_out=True) == "provider"
    assert outcome(*WORK, code=None, timed_out=True) is Outcome.TIMED_OUT


def test_one_that_never_began_is_a_loss_with_its_own_words() -> None:
    words = b"--dangerously-skip-permissions cannot be used with root/sudo privileges"
    assert cause(stderr=words) == "worker"
    (failure,) = parsed(code=1, stderr=words).events
    assert failure == Failure(f"claude did not start: {words.decode()}")


def test_a_crash_after_work_is_the_agent_s_own() -> None:
    assert outcome(*WORK, code=None) is Outcome.CRASHED
    assert outcome(*WORK, code=3) is Outcome.CRASHED
    assert outcome(*WORK, result("error_during_execution", errors=["boom"]), code=1) is Outcome.CRASHED
    assert parsed(*WORK, result("error_during_execution", errors=["boom"]), code=1).events[-1] == Failure(
        "claude broke off: boom"
    )


# -- what it took


def test_tokens_and_price_are_those_of_the_result_with_sub_agents() -> None:
    used = {
        MODEL: {"inputTokens": 30, "outputTokens": 20, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 3},
        "claude-haiku-4-5-20251001": {"inputTokens": 5, "outputTokens": 2},
    }
    usage = parsed(*WORK, result(models=used, usd=0.0123)).usage
    assert usage == Usage("0.0123", {"input": 35, "output": 22, "cache_read": 7, "cache_write": 3}, source="stream")


def test_the_price_of_a_model_that_claude_code_does_not_know_is_a_guess_and_not_used() -> None:
    unknown = parsed(*WORK, result(models={"vendor/model": {"inputTokens": 30, "outputTokens": 20}})).usage
    assert unknown == Usage(None, {"input": 30, "output": 20})
    listed = parsed(*WORK, result(models={"gpt-4o": {"inputTokens": 1_000_000, "outputTokens": 1_000_000}})).usage
    assert (listed.usd, listed.source) == ("12.5", "price list")
    mixed = {MODEL: {"inputTokens": 1}, "vendor/model": {"inputTokens": 1}}
    assert parsed(*WORK, result(models=mixed)).usage.usd is None


def test_of_several_results_the_last_counts_and_a_long_context_is_the_same_model() -> None:
    long = {f"{MODEL}[1m]": {"inputTokens": 90}, MODEL: {"inputTokens": 1}}
    assert parsed(result(), result(models=long, usd=2)).usage == Usage("2", {"input": 91}, source="stream")


def test_a_stream_cut_before_its_result_counts_each_message_once_and_says_so() -> None:
    parts = [assistant(said("a"), id="m1"), assistant(call("Bash", command="ls"), id="m1")]
    trajectory = parsed(INIT, *parts, assistant(said("b"), id="m2", cache_read_input_tokens=4), code=None)
    assert trajectory.usage.tokens == {"input": 20, "output": 2, "cache_read": 4}
    assert trajectory.usage.source == "price list"
    assert "the stream ended before its result: what was used is at least what is counted" in trajectory.notes


def test_an_amount_has_no_noise_of_binary_fractions() -> None:
    assert parsed(*WORK, result(usd=0.000035000000000000004)).usage.usd == "0.000035"


def test_what_was_only_refused_costs_nothing_and_what_broke_off_something_unknown() -> None:
    def unused(**more: object) -> Value:
        return {**result(models={}, usd=0, usage={}), **more}

    assert parsed(INIT, unused()).usage == Usage("0", source="stream")
    refused = unused(is_error=True, api_error_status=401)
    assert parsed(INIT, gave_up("401", "authentication_failed"), refused, code=1).usage == Usage("0", source="stream")
    broken = unused(is_error=True, api_error_status=None)
    assert parsed(INIT, gave_up("ECONNRESET", "server_error"), broken, code=1).usage == Usage()


@pytest.mark.parametrize("usd", [None, True, -1, "0.5", 1e300, {}, [1]])
def test_an_amount_that_is_none_is_not_taken(usd: object) -> None:
    value = {**result(), "total_cost_usd": usd}
    assert parsed(*WORK, value).usage.source == "price list"


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("claude-opus-4-8", True),
        ("claude-opus-4-20250514", True),
        ("claude-opus-4-5-20251101", True),
        ("anthropic/claude-sonnet-4.5", True),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("vertex/claude-haiku-4-5@20251001", True),
        ("claude-3-5-haiku-latest", True),
        ("claude-opus-4-12", False),
        ("claude-opus-5", False),
        ("claude-sonnet-4-7", False),
        ("claude-haiku-5", False),
        ("claude-3-opus-20240229", False),
        ("gpt-5", False),
    ],
)
def test_models_with_a_price_are_known_by_name(model: str, known: bool) -> None:
    assert bool(KNOWN.search(model)) is known


# -- any bytes

LINES = (
    *WORK,
    system("api_retry", error="overloaded", error_status=529),
    assistant(call("Agent", "t5", subagent_type="checker", prompt="p")),
    assistant(call("Write", "t6", file_path="a", content="x\n"), parent="t5"),
    answered("ok", "t6", told={"structuredPatch": [{"oldStart": 1, "lines": ["+x", 3]}]}, parent="t5"),
    gave_up("API Error: 500 oops", "server_error"),
    result(is_error=True, api_error_status=500),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.integers(0, len(stream(*LINES))))
def test_any_beginning_of_a_stream_tells_a_beginning_of_its_events(cut: int) -> None:
    whole = read([stream(*LINES)]).events()
    part = [event for event in read([stream(*LINES)[:cut]]).events() if not isinstance(event, Unknown)]
    told = [event for event in part if not isinstance(event, Failure)]
    assert told == [event for event in whole if not isinstance(event, Failure)][: len(told)]


@given(st.data())
def test_a_value_of_another_type_anywhere_is_read_without_an_error(data: st.DataObject) -> None:
    line = json.loads(json.dumps(data.draw(st.sampled_from(LINES))))
    holder, key = data.draw(st.sampled_from(_places(line)))
    holder[key] = data.draw(JSON)
    trajectory = parsed(*WORK, line)
    assert trajectory.events[: len(WORK) - 1]


def _places(value: object) -> list[tuple[dict[str, object], str]]:
    if isinstance(value, dict):
        own = [(value, key) for key in value]
        return own + [place for inner in value.values() for place in _places(inner)]
    return [place for inner in value for place in _places(inner)] if isinstance(value, list) else []


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_noise_between_the_lines_hides_none_of_them(noise: list[bytes]) -> None:
    lines = stream(*WORK).splitlines(keepends=True)
    mixed = b"".join(b"".join((*(part.replace(b"{", b"") + b"\n" for part in noise), line)) for line in lines)
    events = read([mixed]).events()
    assert tuple(event for event in events if not isinstance(event, Unknown)) == parsed(*WORK).events


class TestContract(SubstrateContract):
    @pytest.fixture
    def substrate(self, stand_in: str) -> Substrate:
        return Claude(ClaudeSettings(binary=stand_in))

    @pytest.fixture
    def tree(self) -> HarnessTree:
        return HarnessTree(
            {
                "CLAUDE.md": "Load pebbles when there are any. Run `python3 scripts/count.py`.\n",
                ".claude/skills/pebbles/SKILL.md": "---\ndescription: For pebbles.\n---\nSort them.\n",
                ".claude/skills/pebbles/scripts/weigh.py": "print('weighed')\n",
                ".claude/skills/pebbles/references/stones.md": "Granite is heavy.\n",
                ".claude/agents/checker.md": "---\nname: checker\ndescription: Checks.\n---\nCheck all of it.\n",
                ".claude/settings.json": json.dumps(
                    {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "python3 scripts/count.py"}]}]}}
                ),
                "scripts/count.py": "print('counted')\n",
            }
        )

    @pytest.fixture
    def streams(self) -> Sequence[bytes]:
        return (stream(*LINES), stream(*WORK, assistant(said("Done – ☃.")), result()))
