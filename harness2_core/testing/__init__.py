"""The kit for testing plugins: contract classes, fakes, toys. No module of the product imports it.

Subclass the contract of your kind and fill its fixture:

    from harness2_core.testing import ModeContract

    class TestMine(ModeContract):
        @pytest.fixture
        def mode(self):
            return Mine()

Needs pytest and hypothesis: `pip install "harness2-core[testing]"`. Names are imported when they are used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .adapter_contract import AdapterContract as AdapterContract
    from .comparing import comparable as comparable
    from .comparing import paid_more_than_once as paid_more_than_once
    from .dialogues import drive as drive
    from .dialogues import in_turn as in_turn
    from .fake_context import FakeContext as FakeContext
    from .judge_contract import JudgeContract as JudgeContract
    from .memory_store import MemoryStore as MemoryStore
    from .mode_contract import ModeContract as ModeContract
    from .proposer_contract import ProposerContract as ProposerContract
    from .reflector_contract import ReflectorContract as ReflectorContract
    from .sandbox_contract import SandboxContract as SandboxContract
    from .selector_contract import SelectorContract as SelectorContract
    from .store_contract import StoreContract as StoreContract
    from .substrate_contract import SubstrateContract as SubstrateContract
    from .toys import ToyAgent as ToyAgent
    from .toys import ToyBench as ToyBench
    from .toys import ToyProposer as ToyProposer
    from .toys import one_step_mode as one_step_mode

_HOMES: Final = {
    "AdapterContract": "adapter_contract",
    "FakeContext": "fake_context",
    "JudgeContract": "judge_contract",
    "MemoryStore": "memory_store",
    "ModeContract": "mode_contract",
    "ProposerContract": "proposer_contract",
    "ReflectorContract": "reflector_contract",
    "SandboxContract": "sandbox_contract",
    "SelectorContract": "selector_contract",
    "StoreContract": "store_contract",
    "SubstrateContract": "substrate_contract",
    "ToyAgent": "toys",
    "ToyBench": "toys",
    "ToyProposer": "toys",
    "comparable": "comparing",
    "drive": "dialogues",
    "in_turn": "dialogues",
    "one_step_mode": "toys",
    "paid_more_than_once": "comparing",
}
__all__ = sorted(_HOMES)

if "pytest" in sys.modules:  # failing contracts explain themselves like tests
    for _module in sorted(set(_HOMES.values())):
        sys.modules["pytest"].register_assert_rewrite(f"{__name__}.{_module}")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
