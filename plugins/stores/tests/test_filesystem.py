"""The filesystem store keeps the store contract, and has rules of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from harness2_stores.filesystem import filesystem_store
from harness2_stores.settings import FilesystemSettings

from harness2_core.api import Damaged, Store, digest_bytes
from harness2_core.testing.store_contract import StoreContract


class TestFilesystemStore(StoreContract):
    @pytest.fixture
    def store_factory(self) -> Callable[[Path], Store]:
        return partial(filesystem_store, FilesystemSettings())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filesystem_store(FilesystemSettings(), tmp_path)


def _record(runs: Path, name: str) -> Path:
    (path,) = (runs / "store" / "records").rglob(f"{name}*")
    return path


@pytest.mark.parametrize("keep", [0, 1, 30, 85, 90, 95])
def test_a_record_cut_short_is_damaged_wherever_the_cut_is(store: Store, tmp_path: Path, keep: int) -> None:
    store.put("kind", "key", b"the value of this record")
    path = _record(tmp_path, "key")
    path.write_bytes(path.read_bytes()[:keep])

    with pytest.raises(Damaged, match=str(path)):
        store.get("kind", "key")
    assert [key for key, _ in store.scan("kind")] == ["key"]
    assert not store.put("kind", "key", b"other")


def test_a_record_under_the_name_of_another_is_damaged(store: Store, tmp_path: Path) -> None:
    store.put("kind", "one", b"1")
    store.put("kind", "two", b"2")
    _record(tmp_path, "two").write_bytes(_record(tmp_path, "one").read_bytes())

    with pytest.raises(Damaged, match="'two'"):
        store.get("kind", "two")


def test_a_long_key_whose_file_is_damaged_is_named_by_scan(store: Store, tmp_path: Path) -> None:
    store.put("kind", "x" * 1_000, b"1")
    path = _record(tmp_path, "xxx")
    path.write_bytes(b"?" + path.read_bytes().replace(b"x", b"y"))

    with pytest.raises(Damaged, match="xxx"):
        list(store.scan("kind"))


def test_stray_files_are_no_records_and_no_blobs(store: Store, tmp_path: Path) -> None:
    store.put("kind", "key", b"1")
    digest = store.put_blob(b"blob")
    for folder in (_record(tmp_path, "key").parent, tmp_path / "store" / "blobs" / digest[:2]):
        for name in (".DS_Store", "notes.txt", "key~0123456789abcdef", "0" * 64):
            (folder / name).write_text("stray")

    assert [key for key, _ in store.scan("kind")] == ["key"]
    assert [key for key, _ in store.scan("blob")] == [digest]


def test_a_blob_that_a_power_loss_emptied_is_absent_and_stored_again(store: Store, tmp_path: Path) -> None:
    digest = store.put_blob(b"blob")
    (tmp_path / "store" / "blobs" / digest[:2] / digest).write_bytes(b"")

    assert not store.has_blob(digest)
    assert store.put_blob(b"blob") == digest
    assert store.open_blob(digest).read() == b"blob"
    assert store.has_blob(store.put_blob(b""))


def test_storing_a_blob_again_writes_nothing(store: Store, tmp_path: Path) -> None:
    data = b"large" * 1_000_000
    (tmp_path / "source").write_bytes(data)
    store.put_blob(data)
    (path,) = (tmp_path / "store" / "blobs").glob("*/*")
    before = path.stat()

    store.put_blob(data)
    store.put_blob(tmp_path / "source")

    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.name == digest_bytes(data)


def test_a_half_written_file_of_a_crash_does_not_count(store: Store, tmp_path: Path) -> None:
    store.put("kind", "key", b"1")
    (tmp_path / "store" / "tmp" / "0123456789ab").write_bytes(b"half")

    assert [key for key, _ in store.scan("kind")] == ["key"]
    assert list(store.scan("blob")) == []
    assert list(store.scan("tmp")) == []
