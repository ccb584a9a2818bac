"""A provider that fails in the middle of work: failures are told apart, waited for and made good; a wrong key is not.

Only the quickest agent is tried, unless the variable `HARNESS2_TEST_EVERY_AGENT` is set: each plugin has tests of its
own of what its agent makes of an error.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import pytest

from harness2_core.testing import PlayedModel, Turn
from harness2_core.testing.model_server import ModelServer
from harness2_core.testing.model_turns import Asked, failing, rate_limited

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

QUICKEST: Final = "codex"
REFUSED: Final = "refused"


class Front:
    """A port of its own that leads to the server, and can be shut for a while."""

    def __init__(self, server: ModelServer) -> None:
        self._to = int(server.url.rpartition(":")[2])
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listening.getsockname()[1]
        self._serve()

    def shut(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def reopen(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port), backlog=64)
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                here, _ = listening.accept()
            except OSError:
                return
            there = socket.create_connection(("127.0.0.1", self._to))
            for ends in ((here, there), (there, here)):
                threading.Thread(target=_pump, args=ends, daemon=True).start()


class Failing:
    """`played`, with faults in the first conversations of executors and editors: from the second request on."""

    def __init__(self, played: PlayedModel, shut: Callable[[], None], **faults: list[Turn | str | None]) -> None:
        self._played = played
        self._shut = shut
        self._faults = faults
        self._now: Turn | str | None = None

    def __call__(self, asked: Asked) -> Turn:
        part = self._played.part(asked)
        if not asked.results and part != "aside":  # one conversation at a time
            left = self._faults.get(part, [])
            self._now = left.pop(0) if left else None
            if self._now == REFUSED:
                self._shut()
        elif isinstance(self._now, Turn):
            return self._now
        return self._played(asked)


@pytest.fixture
def agent(agent: Any) -> Any:
    if agent.name != QUICKEST and not os.environ.get("HARNESS2_TEST_EVERY_AGENT"):
        pytest.skip(f"{agent.name} is tried where HARNESS2_TEST_EVERY_AGENT is set")
    return agent


def test_failures_of_a_provider_are_told_apart_and_made_good(stage: Any, played: PlayedModel) -> None:
    cut = Turn("I had just begun to say", cut_after=2)
    with _front(stage) as (front, shut):
        stage.server.otherwise = Failing(
            played,
            shut,
            executor=[rate_limited(1), cut, None, REFUSED],
            editor=[failing(500), rate_limited(2)],
        )
        stage.configure(address=f"http://127.0.0.1:{front.port}", slots=1)
        ran = stage.harness2("run", "--plain")

    assert ran.code == 0, ran.err
    (row,) = stage.harness2("report", "--json").json["modes"]
    assert (row["done"], row["fell_back"], row["rollouts"]) == (1, 0, 4)
    rollouts = stage.records("rollout")
    lost = [(item["cause"], item["request"] in rollouts) for item in _lost(stage)]
    assert sorted(cause for cause, is_rollout in lost if is_rollout) == ["network", "network", "rate-limit"]
    assert sorted(cause for cause, is_rollout in lost if not is_rollout) == ["provider", "rate-limit"]


def test_a_key_that_is_refused_ends_the_run_and_says_so(stage: Any) -> None:
    stage.env[stage.key_variable] = "a-key-of-somebody-else"

    ran = stage.harness2("run", "--plain", "--offline")  # else it would be found before

    assert ran.code == 1
    assert "access" in ran.err
    assert "the provider does not accept the key" in ran.err
    assert stage.records("rollout") == {}
    assert [item["cause"] for item in _lost(stage)] == ["access"]


@contextmanager
def _front(stage: Any) -> Iterator[tuple[Front, Callable[[], None]]]:
    """And what shuts it until one more attempt has been lost."""
    front = Front(stage.server)

    def reopen_after(lost: int) -> None:
        while len(_lost(stage)) == lost:
            time.sleep(0.2)
        front.reopen()

    def shut() -> None:
        lost = len(_lost(stage))
        front.shut()
        threading.Thread(target=reopen_after, args=(lost,), daemon=True).start()

    yield front, shut


def _lost(stage: Any) -> list[dict[str, Any]]:
    return [item for item in stage.records("attempt").values() if item.get("cause")]


def _pump(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            to.sendall(data)
    for end in (source, to):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
