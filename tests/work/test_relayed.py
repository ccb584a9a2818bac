"""A program in the real sandbox reaches its model by the real relay and nothing else, with the parts users have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from attrs import evolve

from harness2_core.api import Channel, Endpoint, FrozenMap, HarnessTree, Install, Outcome, Place
from harness2_core.plugins.registry import Registry
from harness2_core.testing.model_server import ModelServer
from harness2_core.testing.model_turns import Turn
from harness2_core.testing.workroom import ProgramAgent, WorkRoom

pytestmark = [pytest.mark.process, pytest.mark.together]
KEY = "canary-of-the-endpoint-7c1e"
ASKS = """
import json, os, pathlib, socket, urllib.request
url = os.environ["TOY_URL"]
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": WORD}]}).encode()
headers = {"Authorization": "Bearer " + os.environ["TOY_KEY"]}
answer = urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body, headers), timeout=60)
pathlib.Path("output/said.txt").write_text(json.load(answer)["choices"][0]["message"]["content"])
print(url, os.environ["TOY_KEY"])
for port in PORTS:
    try: socket.create_connection(("127.0.0.1", port), 3); print("escaped")
    except OSError as error: print("no:", error)
"""


class Asking(ProgramAgent):
    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        made = super().install(tree, prompt, channel, place, endpoint)
        return evolve(made, env=FrozenMap({**made.env, "TOY_URL": endpoint.url}))


@pytest.fixture
def relayed(room: WorkRoom, monkeypatch: pytest.MonkeyPatch) -> WorkRoom:
    monkeypatch.setenv("CANARY_KEY", KEY)
    registry = Registry.installed()
    sandbox: Any = registry.make("sandbox", "bubblewrap", None)
    access: Any = registry.make("access", "relay", None)
    if sandbox.works():
        pytest.skip(sandbox.works())
    room.sandbox, room.access, room.agent = sandbox, access, Asking()
    room.work = evolve(room.work, network="model")
    return room


def channel(server: ModelServer) -> Channel:
    return Channel("m", limit_seconds=120, options={"url": f"{server.url}/v1", "key_variable": "CANARY_KEY"})


def program(word: str, *ports: int) -> str:
    return ASKS.replace("WORD", repr(word)).replace("PORTS", repr(ports))


def test_the_model_is_reached_and_nothing_around_it(relayed: WorkRoom) -> None:
    with ModelServer(Turn("hello"), key=KEY) as server:
        port = int(server.url.rpartition(":")[2])
        record = relayed.rolled(program("hi", port, 22, 80), channel(server))

    assert record.outcome is Outcome.FINISHED
    assert relayed.text(record.deliverables.entries["said.txt"]) == "hello"
    address, *tried = relayed.text(record.stream).splitlines()
    assert address == "http://127.0.0.1:11811/v1 [key withheld]"
    assert [line[:3] for line in tried] == ["no:"] * 3
    assert record.versions["network"] == "model"
    assert KEY.encode() not in relayed.everything()


def test_eight_at_once_get_their_own_answers(relayed: WorkRoom) -> None:
    def turn(asked: Any) -> Turn:
        return Turn(f"to {asked.body['messages'][0]['content']}")

    with ModelServer(*[turn] * 8, key=KEY) as server:
        requests = [
            relayed.rollout_request(program(f"run {number}"), f"base{number + 1}", channel(server))
            for number in range(8)
        ]
        with ThreadPoolExecutor(8) as pool:
            records = list(pool.map(relayed.done, requests))

    said = [relayed.text(record.deliverables.entries["said.txt"]) for record in records]
    assert said == [f"to run {number}" for number in range(8)]


def test_an_answer_that_breaks_off_is_no_answer_inside(relayed: WorkRoom) -> None:
    with ModelServer(Turn("words that never end", cut_after=1), key=KEY) as server:
        record = relayed.rolled(program("hi"), channel(server))

    assert record.outcome is Outcome.CRASHED
    assert "IncompleteRead" in relayed.text(record.stderr)


def test_the_record_is_the_same_wherever_model_and_relay_listen(relayed: WorkRoom) -> None:
    texts = []
    for _ in range(2):
        with ModelServer(Turn("hello"), key=KEY) as server:
            record = relayed.rolled(program("hi"), channel(server))
            texts.append((relayed.text(record.stream), relayed.text(record.transcript)))
    assert texts[0] == texts[1]
