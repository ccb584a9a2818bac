"""The scripted model server, asked with plain HTTP of the standard library."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from attrs import frozen

from harness2_core.model.canonical import Json
from harness2_core.testing import Asked, ModelServer, ToolCall, Turn, failing, rate_limited, tool_call

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
every_api = pytest.mark.parametrize("api", PATHS)

SPOKEN = Turn("Two oxen – ☃.\n", (tool_call("read_file", path="a much longer path.txt", lines=3),), 11, 7)
ARGUMENTS = {"path": "a much longer path.txt", "lines": 3}


@frozen
class Got:
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """(event name, data) of a stream; `[DONE]` stays a text."""
        found = []
        for part in self.data.decode().split("\n\n")[:-1]:
            lines = dict(line.split(": ", 1) for line in part.split("\n"))
            found.append(
                (lines.get("event", ""), lines["data"] if lines["data"] == "[DONE]" else json.loads(lines["data"]))
            )
        return found


def ask(server: ModelServer, api: str, body: object = None, **headers: str) -> Got:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port or 0, timeout=30)
    try:
        sent = body if isinstance(body, bytes) else json.dumps({"model": "vendor/model", **(body or {})})  # type: ignore[dict-item]
        connection.request("POST", PATHS.get(api, api), sent, {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


def test_a_chat_completion_is_whole(server: ModelServer) -> None:
    server.play(SPOKEN)
    got = ask(server, "chat").json
    (choice,) = got["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (got["object"], got["model"], choice["finish_reason"]) == ("chat.completion", "vendor/model", "tool_calls")
    assert choice["message"]["content"] == SPOKEN.text
    assert (call["type"], call["function"]["name"]) == ("function", "read_file")
    assert json.loads(call["function"]["arguments"]) == ARGUMENTS
    assert got["usage"] == {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def test_a_streamed_chat_completion_adds_up_to_the_whole(server: ModelServer) -> None:
    server.play(SPOKEN)
    got = ask(server, "chat", {"stream": True, "stream_options": {"include_usage": True}})
    *chunks, usage, (_, done) = got.events
    deltas = [chunk["choices"][0]["delta"] for _, chunk in chunks]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert got.headers["content-type"].startswith("text/event-stream")
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == SPOKEN.text
    assert [call["function"]["name"] for call in calls if "id" in call] == ["read_file"]
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == ARGUMENTS
    assert len(calls) > 3
    assert chunks[-1][1]["choices"][0]["finish_reason"] == "tool_calls"
    assert (usage[1]["choices"], usage[1]["usage"]["total_tokens"], done) == ([], 18, "[DONE]")


def test_usage_is_streamed_only_to_those_who_ask_for_it(server: ModelServer) -> None:
    server.play(Turn("x"))
    assert not [event for _, event in ask(server, "chat", {"stream": True}).events if "usage" in event]


def test_a_response_is_whole(server: ModelServer) -> None:
    server.play(SPOKEN)
    got = ask(server, "responses").json
    message, call = got["output"]
    assert (got["object"], got["status"], got["usage"]["total_tokens"]) == ("response", "completed", 18)
    assert [(part["type"], part["text"]) for part in message["content"]] == [("output_text", SPOKEN.text)]
    assert (call["type"], call["name"], json.loads(call["arguments"])) == ("function_call", "read_file", ARGUMENTS)


def test_a_streamed_response_grows_into_the_whole(server: ModelServer) -> None:
    server.play(SPOKEN, SPOKEN)
    events = ask(server, "responses", {"stream": True}).events
    whole = ask(server, "responses").json
    assert all(name == data["type"] for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert [name for name, _ in events][:2] == ["response.created", "response.in_progress"]
    text = "".join(data["delta"] for name, data in events if name == "response.output_text.delta")
    arguments = "".join(data["delta"] for name, data in events if name == "response.function_call_arguments.delta")
    assert (text, json.loads(arguments)) == (SPOKEN.text, ARGUMENTS)
    done = [data["item"] for name, data in events if name == "response.output_item.done"]
    name, last = events[-1]
    assert name == "response.completed"
    assert last["response"]["output"] == done
    assert [item["type"] for item in done] == [item["type"] for item in whole["output"]]


def test_a_message_is_whole(server: ModelServer) -> None:
    server.play(SPOKEN)
    got = ask(server, "messages").json
    assert (got["type"], got["role"], got["stop_reason"]) == ("message", "assistant", "tool_use")
    assert [block["type"] for block in got["content"]] == ["text", "tool_use"]
    assert (got["content"][0]["text"], got["content"][1]["input"]) == (SPOKEN.text, ARGUMENTS)
    assert got["usage"] == {"input_tokens": 11, "output_tokens": 7}


def test_a_streamed_message_adds_up_to_the_whole(server: ModelServer) -> None:
    server.play(SPOKEN)
    events = ask(server, "messages", {"stream": True}).events
    deltas = [data["delta"] for name, data in events if name == "content_block_delta"]
    assert all(name == data["type"] for name, data in events)
    assert [name for name, _ in events if not name.startswith(("content_block_delta", "ping"))] == [
        "message_start",
        *["content_block_start", "content_block_stop"] * 2,
        "message_delta",
        "message_stop",
    ]
    assert "".join(delta["text"] for delta in deltas if delta["type"] == "text_delta") == SPOKEN.text
    parts = [delta["partial_json"] for delta in deltas if delta["type"] == "input_json_delta"]
    assert (len(parts) > 3, json.loads("".join(parts))) == (True, ARGUMENTS)
    assert events[-2][1]["delta"]["stop_reason"] == "tool_use"
    assert events[-2][1]["usage"] == {"output_tokens": 7}


@every_api
@pytest.mark.parametrize("streams", [False, True])
def test_an_error_comes_in_the_words_of_the_protocol_and_streams_nothing(
    server: ModelServer, api: str, streams: bool
) -> None:
    server.play(rate_limited(17), failing(500))
    limited, broken = (ask(server, api, {"stream": streams}) for _ in range(2))
    assert (limited.status, limited.headers["retry-after"]) == (429, "17")
    assert "rate_limit" in limited.json["error"]["type"]
    assert (broken.status, broken.json["error"]["message"]) == (500, "an error that was scripted")
    assert "retry-after" not in broken.headers


@every_api
@pytest.mark.parametrize("events", [0, 1, 3])
def test_a_stream_may_break_off_anywhere(server: ModelServer, api: str, events: int) -> None:
    server.play(Turn("some words that are many", cut_after=events), Turn("whole"))
    with pytest.raises(http.client.IncompleteRead) as raised:
        ask(server, api, {"stream": True})
    assert raised.value.partial.count(b"data: ") == events
    assert ask(server, api).status == 200


@every_api
def test_a_whole_reply_may_break_off_in_the_middle(server: ModelServer, api: str) -> None:
    server.play(Turn("some words", cut_after=0))
    with pytest.raises(http.client.IncompleteRead) as raised:
        ask(server, api)
    assert raised.value.partial
    assert raised.value.expected


@every_api
def test_requests_are_taken_down_without_their_keys(server: ModelServer, api: str) -> None:
    server.play(Turn("x"))
    secrets = {"authorization": "Bearer canary-1", "x-api-key": "canary-2", "api-key": "canary-3", "cookie": "canary-4"}
    ask(server, api, {"messages": [{"role": "user", "content": "Hello."}]}, **secrets, **{"x-request": "plain"})
    (asked,) = server.asked
    assert (asked.api, asked.model, asked.streams) == (api, "vendor/model", False)
    assert asked.body["messages"] == [{"role": "user", "content": "Hello."}]
    assert asked.headers["x-request"] == "plain"
    assert {"authorization", "x-api-key"} <= set(asked.headers)
    assert "canary" not in repr(server.asked)


@every_api
def test_a_request_without_the_key_is_refused_and_takes_no_turn(api: str) -> None:
    with ModelServer(Turn("x"), key="canary-key") as server:
        assert ask(server, api).status == 401
        assert ask(server, api, authorization="Bearer other").status == 401
        assert (server.left, server.asked) == (1, ())
        assert ask(server, api, authorization="Bearer canary-key").status == 200
        assert "canary-key" not in repr(server.asked)


def test_a_turn_may_follow_from_the_request(server: ModelServer) -> None:
    def echo(asked: Asked) -> Turn:
        return Turn(f"you are {asked.model}")

    server.play(echo)
    assert ask(server, "messages").json["content"][0]["text"] == "you are vendor/model"


@every_api
def test_a_request_after_the_last_turn_is_an_error_that_says_so(server: ModelServer, api: str) -> None:
    server.play(Turn("only"))
    ask(server, api)
    got = ask(server, api)
    assert (got.status, server.left) == (500, 0)
    assert "after the last turn" in got.json["error"]["message"]


def test_what_it_does_not_speak_is_refused(server: ModelServer) -> None:
    assert ask(server, "/v1/embeddings").status == 404
    assert ask(server, "chat", b"{half").status == 400
    assert ask(server, "messages", b"[]").json["error"]["type"] == "invalid_request_error"
    assert server.asked == ()


def test_arguments_of_a_call_may_be_wrong(server: ModelServer) -> None:
    server.play(*[Turn(calls=(ToolCall("read", "{half"),))] * 2)
    assert ask(server, "messages").json["content"][0]["input"] == "{half"
    (choice,) = ask(server, "chat").json["choices"]
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == "{half"


def test_many_at_once_take_a_turn_each(server: ModelServer) -> None:
    server.play(*(Turn(f"turn {number}") for number in range(24)))
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: said.append(ask(server, "messages").json["content"][0]["text"]))
        for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == sorted(f"turn {number}" for number in range(24))


def test_its_models_are_listed(server: ModelServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port or 0, timeout=30)
    connection.request("GET", "/v1/models")
    assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
    connection.close()


def test_it_listens_on_loopback_only_and_is_gone_afterwards() -> None:
    with ModelServer() as server:
        address = urlsplit(server.url)
        assert address.hostname == "127.0.0.1"
    with pytest.raises(OSError):
        http.client.HTTPConnection("127.0.0.1", address.port or 0, timeout=5).request("GET", "/v1/models")


def test_the_fixture_is_a_server(model_server: ModelServer) -> None:
    model_server.play(Turn("x"))
    assert ask(model_server, "chat").status == 200


@every_api
def test_requests_after_the_last_turn_are_answered_by_what_they_say(api: str) -> None:
    def model(asked: Asked) -> Turn:
        return Turn("heard: " + asked.text.split("marker-")[1].split()[0])

    with ModelServer(Turn("first"), otherwise=model) as server:
        bodies = {
            "chat": {"messages": [{"role": "user", "content": "marker-one now"}]},
            "responses": {"input": [{"role": "user", "content": [{"type": "input_text", "text": "marker-one now"}]}]},
            "messages": {"system": [{"type": "text", "text": "marker-one now"}], "messages": []},
        }
        first, second = ask(server, api, bodies[api]), ask(server, api, bodies[api])
    assert b"first" in first.data
    assert b"heard: one" in second.data


def test_a_request_tells_its_tools_and_their_results_in_every_protocol() -> None:
    chat = Asked(
        "chat",
        {},
        {
            "messages": [{"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "1", "content": "seen"}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        },
    )
    responses = Asked(
        "responses",
        {},
        {
            "input": [{"type": "function_call_output", "call_id": "1", "output": "seen"}],
            "tools": [{"type": "function", "name": "bash"}, {"type": "web_search"}],
        },
    )
    result: dict[str, Json] = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "seen"}]}
    messages = Asked("messages", {}, {"messages": [{"role": "user", "content": [result]}], "tools": [{"name": "bash"}]})
    assert [asked.results for asked in (chat, responses, messages)] == [("seen",)] * 3
    assert [asked.tools for asked in (chat, responses, messages)] == [("bash",), ("bash", "web_search"), ("bash",)]
    assert Asked("chat", {}, {"messages": [{"role": "user", "content": "go"}]}).results == ()


def test_a_tool_of_a_group_is_called_in_its_group(server: ModelServer) -> None:
    server.play(Turn(calls=(ToolCall("spawn", namespace="agents"), ToolCall("read"))))
    grouped, plain = ask(server, "responses").json["output"]
    assert (grouped["name"], grouped["namespace"]) == ("spawn", "agents")
    assert "namespace" not in plain


def test_a_message_may_think_read_a_cache_and_stop_for_a_reason_of_its_own(server: ModelServer) -> None:
    turn = Turn("No.", reasoning="Better not.", cache_read_tokens=40, cache_write_tokens=3, stop="refusal")
    server.play(turn, turn)
    whole = ask(server, "messages").json
    events = [data for _, data in ask(server, "messages", {"stream": True}).events]
    assert [block["type"] for block in whole["content"]] == ["thinking", "text"]
    assert whole["stop_reason"] == "refusal"
    assert (whole["usage"]["cache_read_input_tokens"], whole["usage"]["cache_creation_input_tokens"]) == (40, 3)
    deltas = [data["delta"] for data in events if data["type"] == "content_block_delta"]
    assert [delta["thinking"] for delta in deltas if delta["type"] == "thinking_delta"] == ["Better not."]
    assert [delta["type"] for delta in deltas].count("signature_delta") == 1
    assert events[-2]["delta"]["stop_reason"] == "refusal"
    assert events[0]["message"]["usage"]["cache_read_input_tokens"] == 40


def test_a_response_may_think_read_a_cache_and_stop_short(server: ModelServer) -> None:
    turn = Turn("Short", reasoning="Think.", cache_read_tokens=4, cache_write_tokens=3, stop="content_filter")
    server.play(turn, turn)
    whole = ask(server, "responses").json
    name, last = ask(server, "responses", {"stream": True}).events[-1]
    assert name == "response.incomplete"
    for told in (whole, last["response"]):
        assert [item["type"] for item in told["output"]] == ["reasoning", "message"]
        assert told["output"][0]["summary"] == [{"type": "summary_text", "text": "Think."}]
        assert (told["status"], told["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
        assert told["usage"]["input_tokens"] == 17
        assert told["usage"]["input_tokens_details"] == {"cached_tokens": 4, "cache_write_tokens": 3}


def test_a_tool_that_takes_any_text_gets_it_as_it_is(server: ModelServer) -> None:
    server.play(*[Turn(calls=(ToolCall("patch", "*** any {text", custom=True),))] * 2)
    (whole,) = ask(server, "responses").json["output"]
    assert (whole["type"], whole["name"], whole["input"]) == ("custom_tool_call", "patch", "*** any {text")
    events = ask(server, "responses", {"stream": True}).events
    pieces = [data["delta"] for name, data in events if name == "response.custom_tool_call_input.delta"]
    assert "".join(pieces) == "*** any {text"
    assert [data["item"]["input"] for name, data in events if name == "response.output_item.done"] == ["*** any {text"]
