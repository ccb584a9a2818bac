"""The kit for testing plugins: contract classes, fakes, toys. No module of the product imports it.

Subclass the contract of your kind and fill its fixture:

    from harness2_core.testing import ModeContract

    class TestMine(ModeContract):
        @pytest.fixture
        def mode(self):
            return Mine()

Fixtures (`run_harness2`, `harness2_home`, `model_server`) come with the pytest plugin, `pytest_plugin.py`. Needs pytest
and hypothesis: `pip install "harness2-core[testing]"`. Names are imported when they are used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .access_contract import AccessContract as AccessContract
    from .adapter_contract import AdapterContract as AdapterContract
    from .command_contract import CommandContract as CommandContract
    from .comparing import comparable as comparable
    from .comparing import paid_more_than_once as paid_more_than_once
    from .crashing import CrashingStore as CrashingStore
    from .dialogues import drive as drive
    from .dialogues import in_turn as in_turn
    from .engine_contract import EngineContract as EngineContract
    from .engines import InlineEngine as InlineEngine
    from .engines import VirtualEngine as VirtualEngine
    from .fake_context import FakeContext as FakeContext
    from .home import Harness2Home as Harness2Home
    from .judge_contract import JudgeContract as JudgeContract
    from .listener_contract import ListenerContract as ListenerContract
    from .memory_store import MemoryStore as MemoryStore
    from .mode_contract import ModeContract as ModeContract
    from .model_server import ModelServer as ModelServer
    from .model_turns import Asked as Asked
    from .model_turns import ToolCall as ToolCall
    from .model_turns import Turn as Turn
    from .model_turns import failing as failing
    from .model_turns import rate_limited as rate_limited
    from .model_turns import tool_call as tool_call
    from .played_model import PlayedModel as PlayedModel
    from .played_model import shell_call as shell_call
    from .proposer_contract import ProposerContract as ProposerContract
    from .reflector_contract import ReflectorContract as ReflectorContract
    from .running import Ran as Ran
    from .running import RunHarness2 as RunHarness2
    from .sandbox_contract import SandboxContract as SandboxContract
    from .selector_contract import SelectorContract as SelectorContract
    from .store_contract import StoreContract as StoreContract
    from .substrate_contract import SubstrateContract as SubstrateContract
    from .toy_agent import TOY_FAILURES as TOY_FAILURES
    from .toy_agent import Behaviour as Behaviour
    from .toy_agent import ToyAgent as ToyAgent
    from .toys import ToyBench as ToyBench
    from .toys import ToyProposer as ToyProposer
    from .toys import one_step_mode as one_step_mode
    from .workroom import WorkRoom as WorkRoom

_HOMES: Final = {
    "AccessContract": "access_contract",
    "AdapterContract": "adapter_contract",
    "Asked": "model_turns",
    "Behaviour": "toy_agent",
    "CommandContract": "command_contract",
    "CrashingStore": "crashing",
    "EngineContract": "engine_contract",
    "FakeContext": "fake_context",
    "Harness2Home": "home",
    "InlineEngine": "engines",
    "JudgeContract": "judge_contract",
    "ListenerContract": "listener_contract",
    "MemoryStore": "memory_store",
    "ModeContract": "mode_contract",
    "ModelServer": "model_server",
    "PlayedModel": "played_model",
    "ProposerContract": "proposer_contract",
    "Ran": "running",
    "ReflectorContract": "reflector_contract",
    "RunHarness2": "running",
    "SandboxContract": "sandbox_contract",
    "SelectorContract": "selector_contract",
    "StoreContract": "store_contract",
    "SubstrateContract": "substrate_contract",
    "TOY_FAILURES": "toy_agent",
    "ToolCall": "model_turns",
    "ToyAgent": "toy_agent",
    "ToyBench": "toys",
    "ToyProposer": "toys",
    "Turn": "model_turns",
    "VirtualEngine": "engines",
    "WorkRoom": "workroom",
    "comparable": "comparing",
    "drive": "dialogues",
    "failing": "model_turns",
    "in_turn": "dialogues",
    "one_step_mode": "toys",
    "paid_more_than_once": "comparing",
    "rate_limited": "model_turns",
    "shell_call": "played_model",
    "tool_call": "model_turns",
}
__all__ = sorted(_HOMES)

if "pytest" in sys.modules:  # failing contracts explain themselves like tests
    for _module in sorted(set(_HOMES.values())):
        sys.modules["pytest"].register_assert_rewrite(f"{__name__}.{_module}")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
