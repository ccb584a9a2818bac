"""What `install` makes of a tree, a prompt, a channel and a place: values alone, no agent is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from harness2_agents.programs import Program
from harness2_claude.install import TOOLS, installed
from harness2_claude.settings import ClaudeSettings
from harness2_claude.substrate import Claude

from harness2_core.api import Channel, ConfigError, Endpoint, HarnessTree, Install, InvalidValue, Place

PLACE = Place("/workspace", "/home/agent", "/workspace/output", sandboxed=True, network="model")
CHANNEL = Channel(model="vendor/model")
ENDPOINT = Endpoint("http://127.0.0.1:9/", "canary-key-of-one-run")
TREE = HarnessTree(
    {
        "CLAUDE.md": "Load pebbles when there are any.\n",
        ".claude/skills/pebbles/SKILL.md": "---\ndescription: For pebbles.\n---\nSort them.\n",
        ".claude/skills/pebbles/scripts/weigh.py": "print('weighed')\n",
        ".claude/agents/checker.md": "---\nname: checker\ndescription: Checks.\n---\nCheck.\n",
        ".claude/settings.json": '{"hooks": {}}',
        "scripts/count.py": "print('counted')\n",
    }
)


def install(
    channel: Channel = CHANNEL,
    place: Place = PLACE,
    endpoint: Endpoint = ENDPOINT,
    prompt: str = "Do it.",
    *,
    root: bool = False,
    **settings: bool | int,
) -> Install:
    program = Program(Path("/opt/claude/claude"), (Path("/opt/claude"),))
    return installed(program, TREE, prompt, channel, place, endpoint, ClaudeSettings(**settings), root=root)  # type: ignore[arg-type]


def option(made: Install, name: str) -> str:
    return made.argv[made.argv.index(name) + 1]


def test_what_is_loaded_lies_in_the_home_and_what_is_named_by_path_in_the_workspace() -> None:
    made = install()
    skill = {".claude/skills/pebbles/SKILL.md", ".claude/skills/pebbles/scripts/weigh.py"}
    assert set(made.files) == {*skill, "scripts/count.py"}
    assert set(made.home) == {*skill, ".claude/CLAUDE.md", ".claude/agents/checker.md", ".claude/settings.json"}
    assert made.env["CLAUDE_CONFIG_DIR"] == "/home/agent/.claude"


def test_model_effort_and_steps_are_those_of_the_channel() -> None:
    made = install(Channel(model="vendor/model", effort="xhigh", steps=7))
    assert (option(made, "--model"), option(made, "--effort"), option(made, "--max-turns")) == (
        "vendor/model",
        "xhigh",
        "7",
    )
    assert "--effort" not in install().argv
    assert "--max-turns" not in install().argv


def test_one_model_stands_for_everything_that_has_a_model() -> None:
    named = [value for name, value in install().env.items() if name.endswith("_MODEL")]
    assert named == ["vendor/model"] * 6


@pytest.mark.parametrize("channel", [Channel(), Channel(model="m", effort="utmost")], ids=["no model", "an effort"])
def test_a_channel_that_cannot_be_honoured_is_refused(channel: Channel) -> None:
    with pytest.raises(ConfigError):
        install(channel)


def test_the_key_is_in_the_environment_alone_and_one_that_is_missing_is_made_up() -> None:
    made = install()
    assert made.env["ANTHROPIC_API_KEY"] == ENDPOINT.key
    assert made.env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert ENDPOINT.key not in str((made.argv, made.files, made.home, made.stdin))
    without = install(endpoint=Endpoint())
    assert without.env["ANTHROPIC_API_KEY"] == "no-key"
    assert "ANTHROPIC_BASE_URL" not in without.env


@pytest.mark.parametrize(
    ("sandboxed", "root", "mode"),
    [
        (True, True, "bypassPermissions"),
        (True, False, "bypassPermissions"),
        (False, False, "bypassPermissions"),
        (False, True, "acceptEdits"),
    ],
)
def test_it_asks_nobody_and_calls_nothing_a_sandbox_that_is_none(sandboxed: bool, root: bool, mode: str) -> None:
    made = install(place=evolve(PLACE, sandboxed=sandboxed), root=root)
    assert option(made, "--permission-mode") == mode
    assert made.env.get("IS_SANDBOX") == ("1" if sandboxed else None)
    assert ("--allowedTools" in made.argv) is (mode == "acceptEdits")


@pytest.mark.parametrize(
    ("web", "network", "offered"),
    [(True, "open", True), (True, "model", False), (True, "", False), (False, "open", False)],
)
def test_the_web_is_offered_only_where_it_is_asked_for_and_the_network_is_open(
    web: bool, network: str, offered: bool
) -> None:
    tools = option(install(place=evolve(PLACE, network=network), web=web), "--tools")
    assert tools == ",".join((*TOOLS, *(("WebFetch", "WebSearch") if offered else ())))


def test_a_prompt_of_any_length_goes_by_standard_input_and_is_never_a_command() -> None:
    assert install(prompt="x" * 300_000).stdin == b"x" * 300_000
    assert install(prompt="/compact all").stdin == b"\n/compact all"
    assert max(map(len, install(prompt="x" * 300_000).argv)) < 1_000


def test_sizes_that_depend_on_the_model_may_be_options_of_its_channel() -> None:
    told = Channel(model="m", options={"context_tokens": "32000"})
    assert install(told, context_tokens=100_000).env["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] == "32000"
    assert install(context_tokens=100_000, output_tokens=4_000).env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "4000"
    with pytest.raises(ConfigError, match="context_tokens"):
        install(Channel(model="m", options={"context_tokens": "many"}))
    with pytest.raises(InvalidValue, match="retries"):
        ClaudeSettings(retries=-1)


def test_the_substrate_installs_with_the_program_it_is_given(stand_in: str) -> None:
    agent = Claude(ClaudeSettings(binary=stand_in))
    made = agent.install(TREE, "Do it.", CHANNEL, evolve(PLACE, sandboxed=False), ENDPOINT)
    assert made.argv[0] == str(Path(stand_in).resolve())
    assert option(made, "--permission-mode") == ("acceptEdits" if os.geteuid() == 0 else "bypassPermissions")
    assert agent.preflight() == ()
    assert agent.version() == f"claude {agent.tested_version}"


def test_a_missing_program_is_told_before_anything_is_paid() -> None:
    (problem,) = Claude(ClaudeSettings(binary="/nowhere/claude")).preflight()
    assert "/nowhere/claude" in problem
    assert "harness2 setup claude" in problem


def test_prices_are_known_of_its_own_models_and_of_listed_ones() -> None:
    known = [Claude().knows_price(Channel(model=name)) for name in ("claude-opus-4-8", "gpt-4o", "vendor/model")]
    assert known == [True, True, False]
