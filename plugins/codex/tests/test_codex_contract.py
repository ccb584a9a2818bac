"""Codex holds the contract of substrates, with every optional protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness2_codex.settings import CodexSettings
from harness2_codex.substrate import Codex

from harness2_core.api import (
    Channel,
    ChecksTree,
    HarnessTree,
    KnowsPrice,
    Preflights,
    SetsUp,
    ShipsBase,
    SpeaksProtocol,
    TellsLoss,
    TellsOutcome,
    TellsVersion,
)
from harness2_core.testing.substrate_contract import SubstrateContract

STREAMS = sorted((Path(__file__).parent / "streams").glob("*.txt"))


class TestCodex(SubstrateContract):
    @pytest.fixture
    def substrate(self, standing_in: CodexSettings) -> Codex:
        return Codex(standing_in)

    @pytest.fixture
    def tree(self) -> HarnessTree:
        hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "python3 scripts/step.py"}]}]}}
        return HarnessTree(
            {
                "AGENTS.md": "For pebbles load the skill pebbles.\n",
                ".agents/skills/pebbles/SKILL.md": "---\ndescription: Sorts pebbles.\n---\nSee references/sizes.md.\n",
                ".agents/skills/pebbles/scripts/weigh.py": "print(1)\n",
                ".agents/skills/pebbles/scripts/weigh.sh": "#!/bin/sh\necho 1\n",
                ".agents/skills/pebbles/references/sizes.md": "Small, large.\n",
                ".agents/skills/pebbles/assets/blank.csv": "weight\n",
                ".codex/hooks.json": json.dumps(hooks),
                "scripts/step.py": "print(2)\n",
                "sub_agents/counter/AGENT.md": "---\nname: counter\ndescription: Counts.\n---\nCount.\n",
            }
        )

    @pytest.fixture
    def streams(self) -> Sequence[bytes]:
        return [path.read_bytes() for path in STREAMS]


PROTOCOLS: list[type] = [ChecksTree, KnowsPrice, Preflights, SetsUp, ShipsBase, SpeaksProtocol]
PROTOCOLS += [TellsLoss, TellsOutcome, TellsVersion]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_has_every_member_of(protocol: type, standing_in: CodexSettings) -> None:
    assert isinstance(Codex(standing_in), protocol)


def test_it_speaks_responses(standing_in: CodexSettings) -> None:
    assert Codex(standing_in).protocol == "responses"


def test_its_version_is_told_in_one_line(standing_in: CodexSettings) -> None:
    assert Codex(standing_in).version() == "codex 0.171.0"


def test_a_program_that_is_missing_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    (problem,) = Codex(CodexSettings(str(tmp_path / "codex"))).preflight()
    assert "does not exist" in problem
    assert "harness2 setup codex" in problem


def test_prices_are_known_for_models_of_the_price_list_only(standing_in: CodexSettings) -> None:
    agent = Codex(standing_in)
    assert agent.knows_price(Channel(model="gpt-5.5"))
    assert not agent.knows_price(Channel(model="nobody/knows-this"))
