"""Where a store is, and which directories it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_stores.filesystem import filesystem_store
from harness2_stores.settings import FilesystemSettings, SqliteSettings, directory
from harness2_stores.sqlite import sqlite_store

from harness2_core.api import Damaged, InvalidValue, StoreError


def test_a_path_is_taken_from_the_runs_directory(tmp_path: Path) -> None:
    assert directory(FilesystemSettings(), tmp_path) == tmp_path / "store"
    assert directory(FilesystemSettings(path="../shared"), tmp_path) == tmp_path / "../shared"
    assert directory(FilesystemSettings(path="/elsewhere"), tmp_path) == Path("/elsewhere")
    assert directory(FilesystemSettings(path="~/mine"), tmp_path) == Path.home() / "mine"


def test_a_store_stays_where_it_is_when_the_directory_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = filesystem_store(FilesystemSettings(), Path("runs"))
    store.put("kind", "key", b"1")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")

    assert store.get("kind", "key") == b"1"


def test_waiting_less_than_nothing_is_refused() -> None:
    with pytest.raises(InvalidValue, match="wait_seconds"):
        SqliteSettings(wait_seconds=-1)


def test_a_store_of_the_other_provider_is_refused_by_name(tmp_path: Path) -> None:
    filesystem_store(FilesystemSettings(), tmp_path).put("kind", "key", b"1")

    with pytest.raises(StoreError, match="made by filesystem, and the store asked for is sqlite"):
        sqlite_store(SqliteSettings(), tmp_path)


def test_a_mark_that_says_nothing_is_damaged_and_the_remedy_mends_it(tmp_path: Path) -> None:
    filesystem_store(FilesystemSettings(), tmp_path).put("kind", "key", b"1")
    mark = tmp_path / "store" / "format"
    mark.write_bytes(b"")

    with pytest.raises(Damaged) as raised:
        filesystem_store(FilesystemSettings(), tmp_path)
    assert str(mark) in raised.value.what
    mark.write_text(raised.value.remedy.split("`")[1])

    assert filesystem_store(FilesystemSettings(), tmp_path).get("kind", "key") == b"1"


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    filesystem_store(FilesystemSettings(), tmp_path).put("kind", "key", b"1")
    (tmp_path / "store" / "format").write_text("harness2-store filesystem 2\n")

    with pytest.raises(StoreError, match="version 2") as raised:
        filesystem_store(FilesystemSettings(), tmp_path)
    assert "install" in raised.value.remedy


def test_two_kinds_of_store_made_in_one_place_do_not_mix(tmp_path: Path) -> None:
    first, second = filesystem_store(FilesystemSettings(), tmp_path), sqlite_store(SqliteSettings(), tmp_path)
    first.put("kind", "key", b"1")

    with pytest.raises(StoreError, match="made by filesystem"):
        second.put("kind", "key", b"2")


def test_the_home_of_a_user_who_does_not_exist_is_no_crash(tmp_path: Path) -> None:
    made = directory(FilesystemSettings("~nobody-of-this-name/store"), tmp_path)

    assert made == tmp_path / "~nobody-of-this-name" / "store"
