"""The three lines of the README and the configuration that they need, tried with a real agent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

pytestmark = [pytest.mark.agent, pytest.mark.process, pytest.mark.together]

ROOT: Final = Path(__file__).resolve().parents[2]
NAME: Final = "codex"


@pytest.fixture
def agent(agent: Any) -> Any:
    if agent.name != NAME:
        pytest.skip(f"the README has {NAME}")
    return agent


def test_three_lines_and_the_tables_of_the_page_are_ready_to_run(stage: Any) -> None:
    readme, page = (ROOT / "README.md").read_text(), (ROOT / "docs" / "agents.md").read_text()
    (lines,) = re.findall(r"```\n(harness2 setup .*?)```", readme, re.DOTALL)
    setup, export, run = lines.splitlines()
    (tables,) = re.findall(r"```toml\n(# harness2\.toml\n.*?)```", page, re.DOTALL)
    variable = export.removeprefix("export ").partition("=")[0]
    assert setup == f"harness2 setup {stage.agent.name}"
    assert f'key_variable = "{variable}"' in tables
    program = f"[substrates.{NAME}]\nbinary = '{stage.binary}'\n"  # where `setup` put it for whoever runs the tests
    (stage.home.work / "harness2.toml").write_text(
        tables.replace("https://api.openai.com", stage.server.url) + "\n" + program
    )

    ready = stage.harness2("check", "--json", env={variable: stage.home.canary})

    assert ready.code == 0, ready.out
    assert ready.json["facts"]["model gpt-5-mini"] == "answers"
    assert run == "harness2 run"
    assert stage.harness2("plan", env={variable: stage.home.canary}).code == 0
    assert stage.server.asked == ()
