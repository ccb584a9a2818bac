"""The filesystem store keeps the store contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from harness2_stores.filesystem import filesystem_store
from harness2_stores.settings import FilesystemSettings

from harness2_core.api import Store
from harness2_core.testing.store_contract import StoreContract


class TestFilesystemStore(StoreContract):
    @pytest.fixture
    def store_factory(self) -> Callable[[Path], Store]:
        return partial(filesystem_store, FilesystemSettings())
