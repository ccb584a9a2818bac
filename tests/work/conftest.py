from __future__ import annotations

from pathlib import Path

import pytest

from harness2_core.testing.memory_store import MemoryStore
from harness2_core.testing.workroom import WorkRoom


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def room(tmp_path: Path) -> WorkRoom:
    return WorkRoom(tmp_path)
