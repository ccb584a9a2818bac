"""The SQLite store keeps the store contract, and has rules of its own."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from harness2_stores.settings import SqliteSettings
from harness2_stores.sqlite import LARGE, SqliteStore, sqlite_store

from harness2_core.api import Damaged, Store, StoreError, digest_bytes
from harness2_core.testing.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store_factory(self) -> Callable[[Path], Store]:
        return partial(sqlite_store, SqliteSettings())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store", wait_seconds=1)
    yield store
    store.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.sqlite"


def by_digest(*blobs: bytes) -> dict[str, bytes]:
    return {digest_bytes(data): data for data in blobs}


def test_small_blobs_are_rows_and_large_ones_files(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"s" * LARGE)
    (tmp_path / "large").write_bytes(b"l" * (LARGE + 1))

    store.put_blob(tmp_path / "small")
    large = store.put_blob(tmp_path / "large")

    assert [path.name for path in (tmp_path / "store" / "blobs").glob("*/*")] == [large]


@pytest.mark.parametrize("together", [False, True])
def test_a_blob_that_was_cut_short_is_stored_whole_again(store: SqliteStore, database: Path, together: bool) -> None:
    digest = store.put_blob(b"a blob")
    with closing(sqlite3.connect(database)) as shell, shell:
        shell.execute("UPDATE blobs SET value = x'00'")
    assert not store.has_blob(digest)

    if together:
        store.put_blobs(by_digest(b"a blob", b"another"))
    else:
        store.put_blob(b"a blob")

    assert store.read_blobs([digest]) == {digest: b"a blob"}


def test_many_blobs_are_put_in_one_transaction_or_not_at_all(store: SqliteStore, database: Path) -> None:
    store.put_blob(b"before")
    with closing(sqlite3.connect(database)) as shell, shell:
        shell.execute(
            "CREATE TRIGGER full BEFORE INSERT ON blobs WHEN NEW.size = 5 BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )

    with pytest.raises(StoreError, match="no room"):
        store.put_blobs(by_digest(b"four", b"fives", b"sixths"))

    assert [size for _, size in store.scan("blob")] == [6]
    store.put_blobs(by_digest(b"four", b"sixths"))  # and the next transaction begins
    assert sorted(size for _, size in store.scan("blob")) == [4, 6, 6]


def test_a_database_locked_by_another_program_is_waited_for_only_so_long(store: SqliteStore, database: Path) -> None:
    store.put("kind", "before", b"1")
    with closing(sqlite3.connect(database, isolation_level=None)) as shell:
        shell.execute("BEGIN EXCLUSIVE")
        start = time.monotonic()

        with pytest.raises(StoreError, match="kept locked by another program for 1 s") as raised:
            store.put("kind", "key", b"1")

        assert 0.5 < time.monotonic() - start < 30
        assert "wait_seconds" in raised.value.remedy
        assert store.get("kind", "before") == b"1"  # readers do not wait
    assert store.put("kind", "key", b"1")


@pytest.mark.parametrize("junk", [b"", b"not a database at all" * 500])
def test_what_is_no_database_is_damaged_and_named(tmp_path: Path, database: Path, junk: bytes) -> None:
    SqliteStore(tmp_path / "store").put_blob(b"l" * (LARGE + 1))
    database.write_bytes(junk)

    with pytest.raises(StoreError, match=str(database)) as raised:
        SqliteStore(tmp_path / "store").get("kind", "key")
    assert raised.value.remedy


def test_a_torn_page_is_damaged_and_never_a_wrong_value(store: SqliteStore, database: Path) -> None:
    values = {f"key{number}": f"{number}".encode() * 900 for number in range(200)}
    for key, value in values.items():
        store.put("kind", key, value)
    store.close()
    data = bytearray(database.read_bytes())
    for page in range(2, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    database.write_bytes(data)

    problems: list[str] = []
    for key, value in values.items():
        try:
            assert store.get("kind", key) in (value, None)
        except Damaged as error:
            problems.append(str(error))
    assert problems
    assert all(str(database) in problem for problem in problems)


def test_a_database_is_made_whole_or_not_at_all(
    store: SqliteStore, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(draft: str, target: str) -> None:
        raise KeyboardInterrupt

    store.put_blob(b"l" * (LARGE + 1))
    monkeypatch.setattr(os, "link", killed)
    with pytest.raises(KeyboardInterrupt):
        store.put("kind", "key", b"1")

    assert not database.exists()
    monkeypatch.undo()
    assert store.put("kind", "key", b"1")


@pytest.mark.parametrize(("fsync", "synchronous"), [(False, 1), (True, 2)])
def test_fsync_decides_how_far_a_commit_goes(tmp_path: Path, fsync: bool, synchronous: int) -> None:
    store = SqliteStore(tmp_path / "store", fsync=fsync)
    store.put("kind", "key", b"1")

    assert store._database.row("PRAGMA synchronous") == (synchronous,)
    assert store._database.row("PRAGMA journal_mode") == ("wal",)


def test_the_remedy_of_a_damaged_row_is_a_command_that_works(store: SqliteStore, database: Path) -> None:
    store.put("kind", "it's", b"1")
    with closing(sqlite3.connect(database, isolation_level=None)) as shell:
        shell.execute("UPDATE records SET value = x'00'")
        with pytest.raises(Damaged) as raised:
            store.get("kind", "it's")

        shell.execute(raised.value.remedy.split("`")[1])

    assert store.put("kind", "it's", b"1")


@pytest.mark.process
def test_a_forked_child_leaves_the_connection_of_its_parent_alone(store: SqliteStore) -> None:
    store.put("kind", "key", b"1")
    parents = store._database._local.connection
    child = os.fork()
    if child == 0:
        fresh = store.get("kind", "key") == b"1" and store._database._local.connection is not parents
        store.close()
        os._exit(0 if fresh else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.put("kind", "other", b"2")
