"""From a tree to files, configuration, argv and environment: without any program."""

from __future__ import annotations

import tomllib

import pytest
from attrs import evolve
from harness2_codex.config_file import KEY_VARIABLE, config_text
from harness2_codex.settings import CodexSettings
from harness2_codex.skill_list import skill_list
from harness2_codex.substrate import Codex
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Channel, ConfigError, Endpoint, FrozenMap, HarnessTree, Install, InvalidValue, Place

PLACE = Place("/workspace", "/home/agent", "/workspace/output", "/tmp")
ENDPOINT = Endpoint("http://127.0.0.1:11811/v1", "canary-key")
CHANNEL = Channel(model="vendor/model")
TREE = HarnessTree({"AGENTS.md": "Work.\n", "scripts/a.py": "pass\n", ".codex/hooks.json": '{"hooks": {}}'})


def made(settings: CodexSettings, tree: HarnessTree = TREE, channel: Channel = CHANNEL) -> Install:
    return Codex(settings).install(tree, "Do it.", channel, PLACE, ENDPOINT)


def config(install: Install) -> dict[str, object]:
    return tomllib.loads(install.home[".codex/config.toml"].decode())


def test_what_steers_the_agent_lies_in_its_home_and_what_it_runs_in_the_workspace(standing_in: CodexSettings) -> None:
    install = made(standing_in)
    assert set(install.files) == {"scripts/a.py"}
    assert set(install.home) == {".codex/AGENTS.md", ".codex/hooks.json", ".codex/config.toml"}
    assert install.env["CODEX_HOME"] == "/home/agent/.codex"


def test_codex_would_refuse_a_home_below_the_temporary_directory(standing_in: CodexSettings) -> None:
    assert not made(standing_in).env["CODEX_HOME"].startswith(f"{PLACE.temp}/")


def test_hooks_are_trusted_only_where_there_are_any(standing_in: CodexSettings) -> None:
    flag = "--dangerously-bypass-hook-trust"
    assert flag in made(standing_in).argv
    assert flag not in made(standing_in, HarnessTree({"AGENTS.md": "Work.\n"})).argv


def test_the_prompt_comes_on_standard_input_whatever_it_begins_with(standing_in: CodexSettings) -> None:
    install = Codex(standing_in).install(TREE, "--help\n", CHANNEL, PLACE, ENDPOINT)
    assert install.stdin == b"--help\n"
    assert install.argv[-1] == "-"


def test_the_key_is_in_one_variable_and_nowhere_else(standing_in: CodexSettings) -> None:
    install = made(standing_in)
    assert [name for name, value in install.env.items() if "canary-key" in value] == [KEY_VARIABLE]
    assert not [path for path, data in {**install.files, **install.home}.items() if b"canary-key" in data]
    assert f'env_key = "{KEY_VARIABLE}"' in install.home[".codex/config.toml"].decode()


def test_an_endpoint_without_a_key_asks_for_none(standing_in: CodexSettings) -> None:
    install = Codex(standing_in).install(TREE, "Do it.", CHANNEL, PLACE, evolve(ENDPOINT, key=""))
    assert KEY_VARIABLE not in install.env
    assert "env_key" not in install.home[".codex/config.toml"].decode()


def test_model_and_effort_are_those_of_the_channel(standing_in: CodexSettings) -> None:
    told = config(made(standing_in, channel=Channel(model="vendor/model", effort="high")))
    assert (told["model"], told["model_reasoning_effort"]) == ("vendor/model", "high")
    assert "model_reasoning_effort" not in config(made(standing_in))


def test_the_size_of_a_context_is_told_when_it_is_set(standing_in: CodexSettings) -> None:
    assert config(made(evolve(standing_in, context_tokens=32_000)))["model_context_window"] == 32_000
    assert "model_context_window" not in config(made(standing_in))
    channel = Channel(model="vendor/model", options=FrozenMap({"context_tokens": "8000"}))
    assert config(made(evolve(standing_in, context_tokens=32_000), channel=channel))["model_context_window"] == 8_000
    with pytest.raises(ConfigError, match="context_tokens"):
        made(standing_in, channel=evolve(channel, options=FrozenMap({"context_tokens": "many"})))
    with pytest.raises(InvalidValue, match="context_tokens"):
        CodexSettings(context_tokens=-1)


def test_a_channel_that_codex_cannot_honour_is_refused_with_what_to_do(standing_in: CodexSettings) -> None:
    with pytest.raises(ConfigError, match="without a model"):
        made(standing_in, channel=Channel())
    with pytest.raises(ConfigError, match="no address"):
        Codex(standing_in).install(TREE, "Do it.", CHANNEL, PLACE, Endpoint())


def test_skills_are_listed_in_order_with_their_paths() -> None:
    body = "---\nname: {0}\ndescription: >\n  Sorts\n  {0}.\n---\nBody\n"
    tree = {f".agents/skills/{name}/SKILL.md": body.format(name) for name in ("b", "a")}
    lines = skill_list(HarnessTree({"AGENTS.md": "a, b", **tree})).splitlines()
    assert lines[-2:] == [f"- {name}: Sorts {name}. (file: .agents/skills/{name}/SKILL.md)" for name in ("a", "b")]
    assert skill_list(TREE) == ""


def test_a_sub_agent_becomes_a_role_that_knows_the_skills(standing_in: CodexSettings) -> None:
    skill = "---\ndescription: Sorts.\n---\nBody\n"
    agent = '---\r\nname: counter\r\ndescription: >\r\n  Counts\r\n  them.\r\n---\r\nSay "seven" – ☃.\r\n'
    files = {".agents/skills/a/SKILL.md": skill, "sub_agents/counter/AGENT.md": agent}
    role = tomllib.loads(made(standing_in, HarnessTree(files)).home[".codex/agents/counter.toml"].decode())
    assert (role["name"], role["description"]) == ("counter", "Counts them.")
    assert role["developer_instructions"].startswith('Say "seven" – ☃.\n\n## Skills\n')


def test_any_text_survives_the_configuration() -> None:
    texts = st.text(st.characters(exclude_categories=["Cs"]))

    @given(texts.filter(bool), texts, texts, texts)
    def holds(model: str, workspace: str, skills: str, url: str) -> None:
        text = config_text(Channel(model=model), Endpoint(url), workspace, skills, CodexSettings())
        told = tomllib.loads(text)
        assert told["model"] == model
        assert told.get("developer_instructions", "") == skills
        assert told["model_providers"]["harness2"]["base_url"] == url
        assert told["projects"] == {workspace: {"trust_level": "untrusted"}}

    holds()
