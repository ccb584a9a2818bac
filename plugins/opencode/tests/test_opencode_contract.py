"""OpenCode holds the contract of substrates, with every optional protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode

from harness2_core.api import (
    Channel,
    ChecksTree,
    ConfigError,
    Endpoint,
    HarnessTree,
    KnowsPrice,
    Place,
    Preflights,
    SetsUp,
    ShipsBase,
    TellsLoss,
    TellsOutcome,
    TellsVersion,
)
from harness2_core.testing.substrate_contract import SubstrateContract

STREAMS = sorted((Path(__file__).parent / "streams").glob("*.jsonl"))


class TestOpencode(SubstrateContract):
    @pytest.fixture
    def substrate(self, standing_in: OpencodeSettings) -> Opencode:
        return Opencode(standing_in)

    @pytest.fixture
    def tree(self) -> HarnessTree:
        return HarnessTree(
            {
                "systemprompt.md": "Work.\n",
                "guardrails.md": "For pebbles load the skill pebbles: python scripts/step.py.\n",
                "LongTermMEMORY.md": "Nothing.\n",
                "tool_descriptions/tool_guidance.md": "Look first.\n",
                "skills/pebbles/SKILL.md": "---\nname: pebbles\ndescription: Sorts pebbles.\n---\nSee references.\n",
                "skills/pebbles/scripts/weigh.py": "print(1)\n",
                "skills/pebbles/scripts/weigh.sh": "#!/bin/sh\necho 1\n",
                "skills/pebbles/references/sizes.md": "Small, large.\n",
                "skills/pebbles/assets/blank.csv": "weight\n",
                "sub_agents/counter/AGENT.md": "---\ndescription: Counts.\nmode: subagent\n---\nCount.\n",
                "plugin/guard.ts": "export const Guard = async () => ({})\n",
                "scripts/step.py": "print(2)\n",
            }
        )

    @pytest.fixture
    def streams(self) -> Sequence[bytes]:
        return [path.read_bytes() for path in STREAMS]


PROTOCOLS = [ChecksTree, KnowsPrice, Preflights, SetsUp, ShipsBase, TellsLoss, TellsOutcome, TellsVersion]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_has_every_member_of(protocol: type, standing_in: OpencodeSettings) -> None:
    assert isinstance(Opencode(standing_in), protocol)


def test_its_version_is_told_in_one_line(standing_in: OpencodeSettings) -> None:
    assert Opencode(standing_in).version() == "opencode 1.18.33"


def test_programs_that_are_there_are_no_problem(standing_in: OpencodeSettings) -> None:
    assert tuple(Opencode(standing_in).preflight()) == ()


def test_a_program_that_is_missing_is_told_before_anything_is_paid(standing_in: OpencodeSettings) -> None:
    (problem,) = Opencode(evolve(standing_in, binary="/nowhere/opencode")).preflight()
    assert "does not exist" in problem
    assert "harness2 setup opencode" in problem


def test_without_ripgrep_nothing_is_begun(standing_in: OpencodeSettings) -> None:
    agent = Opencode(evolve(standing_in, ripgrep="/nowhere/rg"))
    (problem,) = agent.preflight()
    assert "ripgrep" in problem
    assert "substrates.opencode.ripgrep" in problem
    with pytest.raises(ConfigError, match="ripgrep"):
        agent.install(HarnessTree({}), "Do.", Channel("m"), Place("/w", "/h", "/w/output"), Endpoint("http://x/v1"))


def test_prices_are_known_for_models_of_the_price_list_only(standing_in: OpencodeSettings) -> None:
    agent = Opencode(standing_in)
    assert agent.knows_price(Channel(model="gpt-5-mini"))
    assert not agent.knows_price(Channel(model="nobody/knows-this"))
