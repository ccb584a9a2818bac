from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.canonical import digest_bytes
from harness2_core.model.errors import InvalidValue
from harness2_core.model.manifest import Entry, Manifest, blob_entry, case_collisions, decode_manifest, merged

ENTRIES = st.builds(Entry, st.from_regex("[0-9a-f]{64}", fullmatch=True), st.integers(0, 2**60))
LEAVES = st.text("ab é", min_size=1, max_size=5).filter(lambda name: name.strip(" ") != "")


@st.composite
def manifests(pick: st.DrawFn) -> Manifest:
    """Names of one level cannot collide with each other; directories have names of their own."""
    files = pick(st.dictionaries(LEAVES.map(lambda name: f"dir_{name}/f_{name}"), ENTRIES, max_size=4))
    top = pick(st.dictionaries(LEAVES.map(lambda name: f"top_{name}"), ENTRIES, max_size=4))
    mounts = pick(st.dictionaries(LEAVES.map(lambda name: f"mount_{name}/"), ENTRIES, max_size=3))
    return Manifest({**files, **top, **mounts})


@given(manifests())
def test_a_stored_manifest_reads_back_as_itself(manifest: Manifest) -> None:
    assert decode_manifest(manifest.encode()) == manifest


@given(manifests())
def test_the_digest_is_that_of_the_stored_bytes_whatever_the_order(manifest: Manifest) -> None:
    backwards = Manifest(dict(reversed(list(manifest.entries.items()))))
    assert backwards.digest == manifest.digest == digest_bytes(manifest.encode())


@given(manifests(), manifests())
def test_manifests_have_one_digest_exactly_when_they_are_equal(one: Manifest, other: Manifest) -> None:
    assert (one.digest == other.digest) is (one == other)


@given(manifests())
def test_a_mounted_manifest_counts_with_all_its_bytes(manifest: Manifest) -> None:
    outer = Manifest({"inner/": manifest.entry(), "x": blob_entry(b"12345")})
    assert outer.size == manifest.size + 5


ANY = blob_entry(b"x")


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"../a": ANY}, "climbs"),
        ({"/": ANY}, "names no file"),
        ({"/a": ANY}, "absolute"),
        ({"a//": ANY}, "segment"),
        ({"a/../b/": ANY}, "climbs"),
        ({"a": ANY, "a/": ANY}, "both a file and a directory"),
        ({"a": ANY, "a/b": ANY}, "also the directory"),
        ({"a": ANY, "a/b/": ANY}, "also the directory"),
        ({"a/": ANY, "a/b": ANY}, "inside the mounted"),
        ({"a/": ANY, "a/b/": ANY}, "inside the mounted"),
        ({"a/": ANY, "a/b/c/d": ANY}, "inside the mounted"),
    ],
)
def test_what_cannot_be_laid_out_is_no_manifest(entries: dict[str, Entry], why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        Manifest(entries)


def test_names_that_share_a_beginning_may_stand_beside_a_mount() -> None:
    assert len(Manifest({"a/": ANY, "ab": ANY, "a-b/c": ANY, "a.txt": ANY}).entries) == 4


@pytest.mark.parametrize(("digest", "size"), [("x", 1), ("0" * 64, -1), ("0" * 64, True), ("0" * 64, 1.5)])
def test_an_entry_has_a_digest_and_a_size(digest: str, size: int) -> None:
    with pytest.raises(InvalidValue, match=r"Entry\."):
        Entry(digest, size)


GOOD = Manifest({"a": ANY, "b/": ANY}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"manifest":[]}',
        b'{"manifest":{"a":1}}',
        b'{"manifest":{"a":["x",1]}}',
        b'{"manifest":{"a":[]}}',
        b"\xff\xfe",
        b"[" * 100_000,
        GOOD[:-1],
        GOOD + b" ",
        GOOD.replace(b":", b": "),
        json.dumps({"manifest": json.loads(GOOD)["manifest"], "extra": 1}).encode(),
    ],
)
def test_anything_but_the_stored_form_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidValue, match="manifest"):
        decode_manifest(data)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_is_another_manifest_or_none(place: int, change: int) -> None:
    data = bytearray(GOOD)
    data[place] ^= change
    try:
        other = decode_manifest(bytes(data))
    except InvalidValue:
        return
    assert other.encode() == bytes(data) != GOOD


def test_merging_refuses_to_write_one_path_twice() -> None:
    with pytest.raises(InvalidValue, match="'a' would be written twice"):
        merged({"a": ANY}, {"b": ANY}, {"a": ANY})
    assert set(merged({"a": ANY}, {"b/": ANY}).entries) == {"a", "b/"}


def test_names_that_differ_in_case_are_allowed_but_told() -> None:
    (problem,) = case_collisions(Manifest({"Data.csv": ANY, "data.csv": ANY}))
    assert "'Data.csv' and 'data.csv'" in problem


def test_ten_thousand_entries_and_mounts_are_checked_in_a_moment() -> None:
    entries = {f"d{index}/f{index}": ANY for index in range(10_000)} | {f"m{index}/": ANY for index in range(10_000)}
    began = time.perf_counter()
    Manifest(entries)
    assert time.perf_counter() - began < 10
