from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness2_core.api import Damaged, FrozenMap, InvalidValue, Store
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.paths import unsafe
from harness2_core.testing.memory_store import MemoryStore
from harness2_core.work.materialise import materialise, write_files
from harness2_core.work.site import remove
from harness2_core.work.trees import flatten, put_manifest


def manifest(store: Store, files: dict[str, bytes]) -> Manifest:
    return Manifest(FrozenMap({path: Entry(store.put_blob(data), len(data)) for path, data in files.items()}))


def test_files_and_mounts_are_written_where_they_are_named(store: MemoryStore, tmp_path: Path) -> None:
    inner = manifest(store, {"deep/a.txt": b"a"})
    put_manifest(store, inner)
    whole = Manifest(FrozenMap({**manifest(store, {"b.txt": b"b"}).entries, "mount/": inner.entry()}))
    paths = materialise(store, whole, tmp_path / "out")
    assert paths == ("b.txt", "mount/deep/a.txt")
    assert (tmp_path / "out/mount/deep/a.txt").read_bytes() == b"a"
    assert flatten(store, whole).keys() == set(paths)


def test_a_script_is_executable_and_nothing_else_is(store: MemoryStore, tmp_path: Path) -> None:
    materialise(store, manifest(store, {"run": b"#!/bin/sh\n", "text": b"# !\n", "empty": b"", "one": b"#"}), tmp_path)
    assert {path.name: bool(path.stat().st_mode & 0o111) for path in tmp_path.iterdir()} == {
        "run": True,
        "text": False,
        "empty": False,
        "one": False,
    }


def test_evidence_can_be_written_without_write_bits(store: MemoryStore, tmp_path: Path) -> None:
    materialise(store, manifest(store, {"d/run": b"#!/bin/sh\n"}), tmp_path / "out", read_only=True)
    assert (tmp_path / "out/d/run").stat().st_mode & 0o777 == 0o555
    assert (tmp_path / "out/d").stat().st_mode & 0o777 == 0o555
    remove(tmp_path / "out")


def test_nothing_is_overwritten(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("mine")
    with pytest.raises(InvalidValue, match=r"'a.txt' is there already"):
        materialise(store, manifest(store, {"a.txt": b"theirs"}), tmp_path)
    assert (tmp_path / "a.txt").read_text() == "mine"


def test_no_link_is_followed_on_the_way(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "d").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidValue, match="is a file or a link"):
        materialise(store, manifest(store, {"d/a.txt": b"x"}), tmp_path / "out")
    (tmp_path / "out" / "dangling").symlink_to(tmp_path / "elsewhere" / "new.txt")
    with pytest.raises(InvalidValue):
        materialise(store, manifest(store, {"dangling": b"x"}), tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_flipped_byte_is_found_before_anybody_reads_the_file(store: MemoryStore, tmp_path: Path) -> None:
    whole = manifest(store, {"a.txt": b"good"})

    store.damage(b"good")
    with pytest.raises(Damaged):
        materialise(store, whole, tmp_path)


@settings(max_examples=60, deadline=None)
@given(path=st.text(st.sampled_from("a./\\:~\x00\n é"), min_size=1, max_size=12))
def test_no_path_writes_outside_its_directory(path: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("paths")
    out = root / "out"
    try:
        write_files({path: b"x"}, out)
    except InvalidValue:
        assert unsafe(path)
    written = [found for found in root.rglob("*") if found.is_file()]
    assert all(found.is_relative_to(out) for found in written)
    assert (not written) == bool(unsafe(path))


def test_any_depth_and_any_mode_can_be_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    here = Path.cwd()
    try:
        os.chdir(top)
        for _ in range(1200):  # deeper than any path may be long
            Path("directory").mkdir()
            os.chdir("directory")
        Path("file").write_text("x")
    finally:
        os.chdir(here)
    (top / "locked").mkdir()
    (top / "locked" / "f").write_text("x")
    (top / "locked").chmod(0)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "f").write_text("x")
    (top / "link").symlink_to(tmp_path / "kept")
    remove(top)
    assert not top.exists()
    assert (tmp_path / "kept" / "f").exists()
