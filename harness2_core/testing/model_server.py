"""A model server on loopback that plays scripted turns, in the protocols that agents and proposers speak.

    with ModelServer(rate_limited(1), Turn("Done.", calls=(tool_call("read", path="a.txt"),))) as server:
        ...  # something that asks server.url + "/v1/chat/completions", "/v1/responses" or "/v1/messages"
    assert [asked.api for asked in server.asked] == ["chat", "chat"]

Whole replies and streams, tool calls, errors with `retry-after`, replies that break off. Each request takes the next
turn, whatever it asks; one without a turn left is answered by `otherwise`, a function that plays a model of any length
by what it is asked, or by an error that says so.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, TracebackType
from typing import Final, Self, final

from harness2_core.model.canonical import Json
from harness2_core.plugins.masking import MASK, is_secret
from harness2_core.sweep.probing import AGENT

from . import model_chat, model_messages, model_responses
from .model_turns import Api, Asked, Event, Turn

_APIS: Final[Mapping[str, Api]] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}
_SPOKEN: Final[Mapping[Api, ModuleType]] = {
    "chat": model_chat,
    "responses": model_responses,
    "messages": model_messages,
}
_DONE: Final = b"data: [DONE]\n\n"


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """Connections that may wait: many agents ask at once, and five would be refused."""


@final
class ModelServer:
    """A context. With `key`, requests that do not bring it are refused (401) and take no turn."""

    def __init__(
        self, *turns: Turn | Callable[[Asked], Turn], key: str = "", otherwise: Callable[[Asked], Turn] | None = None
    ) -> None:
        self._turns = list(turns)
        self.otherwise = otherwise
        """Plays what comes after the last turn; may be changed at any time."""
        self._asked: list[Asked] = []
        self.probed = 0
        """Questions of `check`, by whoever brought the key."""
        self._key = key
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="model-server", daemon=True)

    @property
    def url(self) -> str:
        """The address, without a slash at the end; protocols are below `/v1`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every request that was understood, in order of arrival."""
        with self._lock:
            return tuple(self._asked)

    @property
    def left(self) -> int:
        """Turns that were not played."""
        return len(self._turns)

    def play(self, *turns: Turn | Callable[[Asked], Turn]) -> None:
        """Puts turns at the end; a function is called with the request and returns one."""
        with self._lock:
            self._turns += turns

    def opens(self, headers: Mapping[str, str]) -> bool:
        """Whether a request brings the key."""
        return not self._key or self._key in (
            headers.get("x-api-key", ""),
            headers.get("authorization", "").removeprefix("Bearer "),
        )

    def answer(self, asked: Asked) -> tuple[Turn, int]:
        """Takes a request down; the next turn and its number."""
        with self._lock:
            self._asked.append(asked)
            number = len(self._asked)
            turn = self._turns.pop(0) if self._turns else self.otherwise
        if turn is None:
            return Turn(f"request {number} came after the last turn was played", status=500), number
        return (turn if isinstance(turn, Turn) else turn(asked)), number

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._whole(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
            else:
                self._whole(404, {"error": {"message": f"there is no {self.path}", "type": "not_found"}})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", "0")))
            api = _APIS.get(self.path.partition("?")[0])
            if api is None:
                return self._whole(404, {"error": {"message": f"there is no {self.path}", "type": "not_found"}})
            headers = {name.lower(): value for name, value in self.headers.items()}
            if not server.opens(headers):
                return self._error(api, Turn("the key is wrong", status=401))
            try:
                body = json.loads(data)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                return self._error(api, Turn("the body is no JSON object", status=400))
            asked = Asked(api, {name: MASK if is_secret(name) else value for name, value in headers.items()}, body)
            if headers.get("user-agent") == AGENT:
                server.probed += 1
                return self._whole(200, _SPOKEN[api].whole(asked, Turn("ok"), 0))
            turn, number = server.answer(asked)
            time.sleep(turn.wait_seconds)
            if turn.status != 200:
                return self._error(api, turn)
            spoken = _SPOKEN[api]
            if asked.streams:
                return self._stream(list(spoken.events(asked, turn, number)), turn, api == "chat")
            return self._whole(200, spoken.whole(asked, turn, number), cut=turn.cut_after is not None)

        def log_message(self, format: str, *args: object) -> None:
            """Tests print enough."""

        def _error(self, api: Api, turn: Turn) -> None:
            after = {} if turn.retry_after is None else {"retry-after": str(turn.retry_after)}
            self._whole(turn.status, _SPOKEN[api].error(turn), after)

        def _whole(
            self, status: int, body: Mapping[str, Json], headers: Mapping[str, str] | None = None, *, cut: bool = False
        ) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if cut else data)
            self.close_connection = self.close_connection or cut

        def _stream(self, events: list[Event], turn: Turn, ends_with_done: bool) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            sent = [_event(*event) for event in events] + ([_DONE] if ends_with_done else [])
            for data in sent if turn.cut_after is None else sent[: turn.cut_after]:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
            if turn.cut_after is None:
                self.wfile.write(b"0\r\n\r\n")
            else:  # without the chunk that says that this was all
                self.close_connection = True

    return Handler


def _event(name: str, data: Mapping[str, Json]) -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(data)}\n\n".encode()
