"""The SQLite store keeps the store contract, and has rules of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from harness2_stores.settings import SqliteSettings
from harness2_stores.sqlite import sqlite_store

from harness2_core.api import Store
from harness2_core.testing.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store_factory(self) -> Callable[[Path], Store]:
        return partial(sqlite_store, SqliteSettings())
