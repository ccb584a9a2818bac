"""From a tree to files, configuration, command and environment: pure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode

from harness2_core.api import Channel, ConfigError, Endpoint, FrozenMap, HarnessTree, Install, InvalidValue, Place

PLACE = Place("/workspace", "/home/agent", "/workspace/output")
TREE = HarnessTree(
    {
        "systemprompt.md": "One.\n",
        "guardrails.md": "\nTwo. Load a.\n\n",
        "LongTermMEMORY.md": "  \n",
        "tool_descriptions/tool_guidance.md": "Four.",
        "skills/a/SKILL.md": "---\nname: a\ndescription: d\n---\nDo.\n",
        "skills/a/assets/blank.csv": "a,b\n",
        "scripts/x.py": "print(1)\n",
        "sub_agents/b/AGENT.md": "---\ndescription: d\nmode: subagent\n---\nDo.\n",
        "plugin/p.ts": "export const P = async () => ({})\n",
    }
)
ENDPOINT = Endpoint("http://127.0.0.1:9/v1", "canary-key-9e1f")


def installed(
    settings: OpencodeSettings, channel: Channel | None = None, endpoint: Endpoint = ENDPOINT, place: Place = PLACE
) -> Install:
    return Opencode(settings).install(TREE, "Do it.", channel or Channel("vendor/m"), place, endpoint)


def config(install: Install) -> Any:
    return json.loads(install.home[".config/opencode/opencode.json"])


def test_each_file_goes_where_it_is_loaded_or_named(standing_in: OpencodeSettings) -> None:
    install = installed(standing_in)
    assert set(install.files) == {"skills/a/SKILL.md", "skills/a/assets/blank.csv", "scripts/x.py"}
    home = {path.removeprefix(".config/opencode/") for path in install.home if path.startswith(".config/opencode/")}
    seed = {"package.json", "package-lock.json", "node_modules/.keep"}
    assert home == {"AGENTS.md", "opencode.json", "agent/b.md", "plugin/p.ts", *seed}
    assert install.home[".config/opencode/AGENTS.md"] == b"One.\n\nTwo. Load a.\n\nFour.\n"


def test_skills_are_listed_one_by_one_so_that_no_others_join_them(standing_in: OpencodeSettings) -> None:
    assert config(installed(standing_in))["skills"] == {"paths": ["/workspace/skills/a"]}


def test_the_key_is_in_the_environment_only(standing_in: OpencodeSettings) -> None:
    install = installed(standing_in)
    assert [name for name, value in install.env.items() if ENDPOINT.key in value] == ["HARNESS2_MODEL_KEY"]
    assert config(install)["provider"]["endpoint"]["options"]["apiKey"] == "{env:HARNESS2_MODEL_KEY}"
    assert not [path for path, data in install.home.items() if ENDPOINT.key.encode() in data]


def test_without_a_key_there_is_no_variable(standing_in: OpencodeSettings) -> None:
    assert "HARNESS2_MODEL_KEY" not in installed(standing_in, endpoint=evolve(ENDPOINT, key="")).env


def test_effort_and_steps_are_the_channels(standing_in: OpencodeSettings) -> None:
    install = installed(standing_in, Channel("vendor/m", "high", 7))
    assert install.argv[-2:] == ("--variant", "high")
    assert config(install)["agent"] == {"build": {"steps": 7}}
    (plugin,) = config(install)["plugin"]
    assert plugin[1]["steps"] == 7
    plain = installed(standing_in)
    assert "--variant" not in plain.argv
    assert "agent" not in config(plain)


def test_a_channel_may_know_its_model_better_than_the_settings(standing_in: OpencodeSettings) -> None:
    settings = evolve(standing_in, context_tokens=1000, output_tokens=200)
    given = FrozenMap({"context_tokens": "5000"})
    install = installed(settings, Channel("vendor/m", options=given))
    assert config(install)["provider"]["endpoint"]["models"]["vendor/m"]["limit"] == {"context": 5000, "output": 200}
    assert install.env["OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"] == "200"


@pytest.mark.parametrize(("network", "offered"), [("none", False), ("model", False), ("open", True), ("", True)])
def test_pages_can_be_fetched_only_where_there_is_a_network(
    standing_in: OpencodeSettings, network: str, offered: bool
) -> None:
    permission = config(installed(standing_in, place=evolve(PLACE, network=network)))["permission"]
    assert ("webfetch" not in permission) is offered


def test_a_ripgrep_that_is_elsewhere_is_shown_and_on_the_path(standing_in: OpencodeSettings) -> None:
    install = installed(standing_in)
    folder = standing_in.ripgrep.removesuffix("/rg")
    assert standing_in.ripgrep in map(str, install.reads)
    assert install.argv[:4] == ("/bin/sh", "-c", 'PATH="$PATH:$0"; export PATH; exec "$@"', folder)
    assert install.argv[4] == standing_in.binary


def test_no_network_is_used_behind_the_models_back(standing_in: OpencodeSettings) -> None:
    install = installed(standing_in)
    assert config(install)["autoupdate"] is False
    assert config(install)["share"] == "disabled"
    assert config(install)["enabled_providers"] == ["endpoint"]
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "PROJECT_CONFIG"):
        assert install.env[f"OPENCODE_DISABLE_{name}"] == "1"
    lock = json.loads(install.home[".config/opencode/package-lock.json"])
    assert lock["packages"][""]["dependencies"] == {"@opencode-ai/plugin": "1.18.33"}


@pytest.mark.parametrize(
    ("channel", "endpoint", "words"),
    [
        (Channel(), ENDPOINT, "without a model"),
        (Channel("m"), Endpoint(), "no address"),
        (Channel("m", options=FrozenMap({"output_tokens": "many"})), ENDPOINT, "output_tokens"),
        (Channel("m", options=FrozenMap({"context_tokens": "0"})), ENDPOINT, "context_tokens"),
        (Channel("m", options=FrozenMap({"images": "yes"})), ENDPOINT, "images"),
    ],
)
def test_a_channel_that_cannot_be_honoured_is_refused(
    standing_in: OpencodeSettings, channel: Channel, endpoint: Endpoint, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        installed(standing_in, channel, endpoint)


def test_settings_are_checked() -> None:
    with pytest.raises(InvalidValue, match="output_tokens"):
        OpencodeSettings(output_tokens=0)
