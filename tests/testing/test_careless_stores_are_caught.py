"""A store as one writes it in an afternoon, and what the contract has to say of it."""

from __future__ import annotations

import importlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from harness2_core.api import Digest, Store, digest_bytes
from harness2_core.testing import StoreContract
from harness2_core.testing.child import Child
from harness2_core.testing.store_children import hold


class Careless:
    """Files where they belong, written in place; a claim is a file that is there."""

    def __init__(self, runs: Path) -> None:
        self._root = runs / "careless"

    def put_blob(self, source: Path | bytes) -> Digest:
        data = source if isinstance(source, bytes) else source.read_bytes()
        digest = digest_bytes(data)
        self._write(self._path("blob", digest), data)
        return digest

    def has_blob(self, digest: Digest) -> bool:
        return self._path("blob", digest).exists()

    def open_blob(self, digest: Digest) -> BinaryIO:
        return self._path("blob", digest).open("rb")

    def put(self, kind: str, key: str, value: bytes) -> bool:
        path = self._path(kind, key)
        if path.exists():
            return False
        time.sleep(0.002)  # so that two at once do meet
        self._write(path, value)
        return True

    def get(self, kind: str, key: str) -> bytes | None:
        path = self._path(kind, key)
        return path.read_bytes() if path.exists() else None

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        folder = self._root / kind
        paths = folder.iterdir() if folder.is_dir() else ()
        return iter([(path.name.replace("__", "/"), path.stat().st_size) for path in paths])

    def delete(self, kind: str, key: str) -> None:
        self._path(kind, key).unlink(missing_ok=True)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        path = self._path("claims", key)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            yield False
            return
        try:
            yield True
        finally:
            path.unlink()

    def _path(self, kind: str, key: str) -> Path:
        return self._root / kind / key.replace("/", "__")

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for part in (data[: len(data) // 2], data[len(data) // 2 :]):
                time.sleep(0.001)  # whatever may come between does
                file.write(part)
                file.flush()


def red(test: Callable[[], object]) -> None:
    """Fails, or stumbles over what no store should raise; a rule that the machine cannot try proves nothing."""
    try:
        test()
    except pytest.skip.Exception:
        raise
    except (Exception, pytest.fail.Exception):
        return
    raise AssertionError("the contract found nothing wrong")


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Store]:
    """`Careless` where other processes can import it, and proof that they can."""
    shutil.copy(__file__, tmp_path / "zz_careless.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    factory: Callable[[Path], Store] = importlib.import_module("zz_careless").Careless
    with Child(hold, factory, tmp_path / "probe", "key") as child:
        assert child.line() == "True"
        child.rest()
    return factory


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def store(runs: Path) -> Store:
    return Careless(runs)


ALIKE = ("a/b", "a__b", "a%2Fb", "A/B")


def test_bytes_that_were_flipped_and_are_handed_out_are_found(store: Store, runs: Path) -> None:
    contract = StoreContract()
    red(lambda: contract.test_a_flipped_byte_in_a_record_is_found_and_named(store, runs))
    red(lambda: contract.test_a_flipped_byte_in_a_blob_is_found_while_it_is_read(store, runs, 1_000))
    red(lambda: contract.test_reading_exactly_the_size_of_a_damaged_blob_does_not_pass_unseen(store, runs))


def test_keys_that_become_one_are_found(store: Store, runs: Path) -> None:
    contract = StoreContract()
    red(lambda: contract.test_keys_that_look_alike_stay_apart(store, runs, ALIKE))
    red(lambda: contract.test_keys_that_look_alike_stay_apart(store, runs, ("x" * 5_000, "x" * 5_001)))
    red(lambda: contract.test_half_a_character_is_no_key(store))
    red(lambda: contract.test_blob_is_no_kind_of_record(store))


def test_what_is_listed_in_the_order_of_the_disk_is_found(store: Store) -> None:
    red(lambda: StoreContract().test_blobs_are_listed_by_digest_with_their_sizes(store))


def test_a_key_that_two_threads_store_is_found(store: Store) -> None:
    red(lambda: StoreContract().test_one_of_many_threads_stores_a_key(store))


@pytest.mark.process
def test_what_is_half_written_when_its_process_dies_is_found(
    store: Store, runs: Path, shared: Callable[[Path], Store]
) -> None:
    red(lambda: StoreContract().test_a_store_is_whole_after_sigkill_at_any_instant(store, runs, shared))


@pytest.mark.process
def test_a_claim_that_outlives_its_owner_is_found(store: Store, runs: Path, shared: Callable[[Path], Store]) -> None:
    red(lambda: StoreContract().test_a_claim_dies_with_its_owner(store, runs, shared))


@pytest.mark.process
def test_two_processes_that_both_store_a_key_are_found(
    store: Store, runs: Path, shared: Callable[[Path], Store]
) -> None:
    red(lambda: StoreContract().test_processes_that_make_a_store_at_once_share_it(store, runs, shared))


@pytest.mark.process
def test_a_full_disk_that_is_no_error_of_the_store_is_found(runs: Path, shared: Callable[[Path], Store]) -> None:
    red(lambda: StoreContract().test_a_full_disk_is_an_error_with_nothing_lost(runs, shared))
