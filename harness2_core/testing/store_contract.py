"""`StoreContract`: what every store promises, as tests. Subclass it, say how a store is made, and run pytest.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store_factory(self):
            return partial(my_store, MySettings())

The factory is called with a runs directory, again and again and from other processes: it must be picklable. A store
that lives in one process sets `shared_between_processes = False`; one whose values are not found byte for byte in
files below the runs directory overrides `flip_byte`.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from harness2_core.api import Store

from .store_blob_rules import StoreBlobRules
from .store_children import Factory
from .store_claim_rules import StoreClaimRules
from .store_crash_rules import StoreCrashRules
from .store_record_rules import StoreRecordRules


class StoreContract(StoreBlobRules, StoreRecordRules, StoreClaimRules, StoreCrashRules):
    shared_between_processes: ClassVar[bool] = True

    @pytest.fixture
    def store_factory(self) -> Factory:
        raise NotImplementedError("override the fixture `store_factory`: a callable from runs directory to store")

    @pytest.fixture
    def shared_factory(self, store_factory: Factory) -> Factory:
        if not self.shared_between_processes:
            pytest.skip("this store lives in one process")
        return store_factory

    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        return tmp_path / "runs"

    @pytest.fixture
    def store(self, store_factory: Factory, runs: Path) -> Store:
        return store_factory(runs)

    def test_it_is_a_store(self, store: Store) -> None:
        assert isinstance(store, Store)
