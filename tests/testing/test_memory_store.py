"""The in-memory store keeps the store contract within one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness2_core.api import Store
from harness2_core.testing.memory_store import MemorySettings, MemoryStore, memory_store
from harness2_core.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    shared_between_processes = False

    @pytest.fixture
    def store_factory(self) -> Callable[[Path], Store]:
        return partial(memory_store, MemorySettings())

    def flip_byte(self, store: Store, runs: Path, marker: bytes) -> None:
        assert isinstance(store, MemoryStore)
        store.damage(marker)


def test_a_memory_store_is_forgotten_when_nothing_uses_it(tmp_path: Path) -> None:
    memory_store(MemorySettings(), tmp_path).put("kind", "key", b"value")

    assert memory_store(MemorySettings(), tmp_path).get("kind", "key") is None
