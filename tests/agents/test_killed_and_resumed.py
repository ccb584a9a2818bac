"""A run of real agents is killed again and again, goes on each time, and ends as one that nobody disturbed.

Only the quickest agent is tried, unless the variable `HARNESS2_TEST_EVERY_AGENT` is set.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from typing import Any, Final

import pytest

from harness2_core.testing import PlayedModel
from harness2_core.testing.comparing import comparable, paid_more_than_once
from harness2_core.testing.family import Family

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

QUICKEST: Final = "codex"
KILLS: Final = 5
MOST_IN_FLIGHT: Final = 2
"""Rollouts or sessions that are under way at once, at k = 1."""


@pytest.fixture
def agent(agent: Any) -> Any:
    if agent.name != QUICKEST and not os.environ.get("HARNESS2_TEST_EVERY_AGENT"):
        pytest.skip(f"{agent.name} is tried where HARNESS2_TEST_EVERY_AGENT is set")
    return agent


def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(stage: Any, played: PlayedModel) -> None:
    quiet = stage.harness2("run", "--plain")
    assert quiet.code == 0, quiet.err
    expected, paid = _records(stage), _asked(stage, played)
    stage.at("killed")

    chance = random.Random(20_261_129)
    kills = 0
    while kills < KILLS and _killed(stage, chance.randint(1, 5), chance.uniform(0, 0.3)):
        kills += 1
    ended = stage.harness2("run", "--plain")

    assert ended.code == 0, ended.err
    assert kills >= 3  # the machine may be quick
    assert _records(stage) == expected
    assert paid_more_than_once(stage.store) == ()
    assert paid <= _asked(stage, played) - paid <= paid + KILLS * MOST_IN_FLIGHT


def _killed(stage: Any, requests: int, seconds: float) -> bool:
    """Some time after the model was asked so many times more; nothing of it lives on. False when it ended before."""
    until = len(stage.server.asked) + requests
    with Family() as family:
        process = stage.start("run", "--plain")
        while len(stage.server.asked) < until and process.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        process.kill()
        _, err = process.communicate()
    assert family.left == []
    assert process.returncode in (0, -signal.SIGKILL), err
    return bool(process.returncode)


def _asked(stage: Any, played: PlayedModel) -> int:
    """Conversations that were begun: rollouts and sessions that were paid, wholly or in part."""
    asked = [item for item in stage.server.asked if played.part(item) != "aside"]
    return sum(not item.results for item in asked)


def _records(stage: Any) -> dict[tuple[str, str], Any]:
    """But for what agents print beside their work: names and times that are new in each run."""
    found = {key: json.loads(data) for key, data in comparable(stage.store).items()}
    return {
        key: {name: value for name, value in record.items() if name not in ("stream", "stderr")}
        for key, record in found.items()
    }
