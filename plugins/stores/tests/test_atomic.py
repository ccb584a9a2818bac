"""Files are whole or absent, and what crashes leave goes away by itself."""

from __future__ import annotations

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from harness2_stores.atomic import STALE_SECONDS, AtomicFiles

from harness2_core.api import StoreError


@pytest.fixture
def files(tmp_path: Path) -> AtomicFiles:
    return AtomicFiles(tmp_path, fsync=False)


def test_nothing_is_left_beside_what_was_created(files: AtomicFiles, tmp_path: Path) -> None:
    assert files.create(f"{tmp_path}/a/b", b"data")
    assert not files.create(f"{tmp_path}/a/b", b"other")

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["b"]
    assert (tmp_path / "a" / "b").read_bytes() == b"data"


def test_a_draft_that_fails_leaves_nothing(files: AtomicFiles, tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), files.draft() as (file, _):
        file.write(b"half")
        raise ZeroDivisionError

    assert list((tmp_path / "tmp").iterdir()) == []


def test_old_leftovers_are_removed_and_young_drafts_stay(files: AtomicFiles, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    old, young = tmp_path / "tmp" / "old", tmp_path / "tmp" / "young"
    for leftover in (old, young):
        leftover.write_bytes(b"half")
    os.utime(old, (0, time.time() - STALE_SECONDS - 60))

    files.create(f"{tmp_path}/file", b"data")

    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["young"]


def _no_links(draft: str, target: str) -> None:
    raise OSError(errno.EPERM, "this file system has no hard links")


def test_without_hard_links_the_first_still_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _no_links)

    def create(number: int) -> bool:
        return AtomicFiles(tmp_path, fsync=False).create(f"{tmp_path}/file", str(number).encode())

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(create, range(8)))

    assert won.count(True) == 1
    assert (tmp_path / "file").read_bytes() == str(won.index(True)).encode()


def test_without_hard_links_a_rival_that_was_quicker_wins(
    files: AtomicFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rival(draft: str, target: str) -> None:
        Path(target).write_bytes(b"rival")
        _no_links(draft, target)

    monkeypatch.setattr(os, "link", rival)

    assert not files.create(f"{tmp_path}/file", b"late")
    assert (tmp_path / "file").read_bytes() == b"rival"


def test_with_fsync_the_bytes_are_on_disk_before_the_name_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "new" / "file"
    synced: list[tuple[str, bool]] = []

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append(("draft" if len(name) == 24 else name, target.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    AtomicFiles(tmp_path, fsync=True).create(str(target), b"data")

    assert ("draft", False) in synced
    assert synced[-1] == ("new", True)
    assert (tmp_path.name, False) in synced  # the new directory's own name
    synced.clear()
    AtomicFiles(tmp_path, fsync=False).create(f"{tmp_path}/other", b"data")
    assert synced == []


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "full"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only"), (errno.EIO, "disk reports")],
)
def test_errors_of_the_system_say_what_to_do(
    files: AtomicFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def fail(draft: str, target: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", fail)

    with pytest.raises(StoreError, match=words) as raised:
        files.create(f"{tmp_path}/file", b"data")

    assert str(tmp_path) in raised.value.what
    assert raised.value.remedy
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
