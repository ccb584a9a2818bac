"""Real agents as executors and improvers, confined, through the whole method: every part is real but the weights."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness2_core.testing import PlayedModel

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

VOTES = "codex"
"""The quickest agent goes with two finals, so that there is something to vote about."""


@pytest.fixture
def right(right: str) -> str:
    """With a file that differs each time: finals that deliver the same would be one candidate."""
    return f"{right} && date +%N > output/when.txt"


def test_a_harness_that_failed_is_improved_adopted_and_learnt_from(stage: Any, played: PlayedModel) -> None:
    k = 2 if stage.agent.name == VOTES else 1
    stage.configure(k=k)

    ran = stage.harness2("run", "--plain")
    assert ran.code == 0, ran.err
    judged = stage.harness2("judge", "--bases", "--json")
    assert judged.code == 0, judged.err

    (row,) = stage.harness2("report", "--json").json["modes"]
    assert (row["base"], row["adopted"], row["difference"]) == ("0", "1", "1")
    assert (row["n"], row["done"], row["fell_back"]) == (1, 1, 0)
    played_parts = {played.part(asked) for asked in stage.server.asked} - {"aside", "keeper"}
    assert played_parts == {"executor", "editor", "reflector"} | ({"selector"} if k == 2 else set())
    _what_was_done_can_be_read(stage)
    _records_tell_who_did_it(stage)
    _the_library_has_the_lesson(stage, played)
    _nothing_of_the_user_took_part(stage)


def _what_was_done_can_be_read(stage: Any) -> None:
    shown = stage.harness2("show", "bills/january", "--trajectory", "base1")
    assert shown.code == 0, shown.err
    assert "echo 375 > output/sum.txt" in shown.out
    assert "The work is done." in shown.out


def _records_tell_who_did_it(stage: Any) -> None:
    token = stage.agent.token
    records = [*stage.records("rollout").values(), *stage.records("session").values()]
    versions = [record["versions"] for record in records]
    assert {item["agent." + token] for item in versions} == {f"{stage.agent.name} {stage.version}"}
    assert {len(item["config." + token]) for item in versions} == {64}
    assert {(item["model"], item["effort"]) for item in versions} == {("scripted", "high")}
    assert {item["network"] for item in versions} == {"model"}
    for usage in (record["usage"] for record in stage.records("rollout").values()):
        assert (usage["tokens"]["input"], usage["tokens"]["output"]) == (300, 50)
        assert (usage["usd"], usage["source"]) == ("0.0004", "prices of harness2.toml")


def _the_library_has_the_lesson(stage: Any, played: PlayedModel) -> None:
    (entry,) = [path for path in stage.written() if path.name == "EXPERIENCE.md"]
    assert f"**lesson**: {played.rule}" in entry.read_text()
    assert played.rule in (entry.parent / "harness" / stage.agent.always_on).read_text()


def _nothing_of_the_user_took_part(stage: Any) -> None:
    requests = "\n".join(json.dumps([dict(asked.headers), asked.body], default=str) for asked in stage.server.asked)
    for mark in (stage.poison, stage.secret, stage.home.canary):  # the key itself: headers that bring it are masked
        assert mark not in requests
    assert not (stage.home.home / "poisoned").exists()
    for path in stage.written():
        data = path.read_bytes()
        for mark in (stage.poison, stage.secret, stage.home.canary):
            assert mark.encode() not in data, path
