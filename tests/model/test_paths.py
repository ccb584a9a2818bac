from __future__ import annotations

import time
import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.paths import collisions, has_controls, is_device, parents, unportable, unsafe

SEGMENT = st.text(min_size=1, max_size=8)
PATHS = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join) | st.text(max_size=12)
NAMES = st.text("abAB.é/", max_size=6)


@pytest.mark.parametrize("path", ["a", "a/b.txt", "a b/c", "ünïcode/ß", ".hidden/x", "con/x", "a\\b", "-rf"])
def test_a_plain_relative_path_is_safe(path: str) -> None:
    assert unsafe(path) == ()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "names no file"),
        ("/etc/passwd", "absolute"),
        ("C:/x", "absolute"),
        ("c:x", "absolute"),
        ("..", "climbs"),
        ("a/../b", "climbs"),
        ("a/..", "climbs"),
        (".", "segment"),
        ("a/./b", "segment"),
        ("a//b", "segment"),
        ("a/", "segment"),
        ("//a", "absolute"),
        ("a\x00b", "NUL"),
        ("a\ud800", "UTF-8"),
        ("a" * 256, "too long"),
        ("é" * 128, "too long"),
        ("a/" * 600 + "a", "too long"),
    ],
)
def test_what_leaves_its_directory_or_cannot_be_written_is_named(path: str, why: str) -> None:
    assert any(why in problem for problem in unsafe(path))


@given(PATHS)
def test_a_safe_path_stays_below_its_directory(path: str) -> None:
    if unsafe(path) == ():
        parts = PurePosixPath("/root", path).parts
        assert parts[:2] == ("/", "root")
        assert len(parts) > 2
        assert ".." not in parts
        assert PurePosixPath(path).as_posix() == path


@given(PATHS)
def test_what_is_portable_is_safe_too(path: str) -> None:
    if unportable(path) == ():
        assert unsafe(path) == ()
        assert unicodedata.normalize("NFC", path) == path


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a\\b", "forbid"),
        ("ab:c", "forbid"),
        ("what?", "forbid"),
        ("a\nb", "control"),
        ("a\x1b[2J", "control"),
        ("evil\u202etxt.py", "control"),
        ("a\u2028b", "control"),
        ("a\u200fb", "control"),
        ("\ufeffa", "control"),
        ("e\u0301", "NFC"),
        ("con", "device"),
        ("scripts/NUL.py", "device"),
        ("Com1.tar.gz", "device"),
        ("lpt¹", "device"),
        ("aux .txt", "device"),
        ("a./b", "ends in"),
        ("a /b", "ends in"),
        ("b.", "ends in"),
    ],
)
def test_what_other_systems_cannot_hold_is_named(path: str, why: str) -> None:
    assert unsafe(path) == ()
    assert any(why in problem for problem in unportable(path))


def test_all_problems_of_a_path_are_told_at_once() -> None:
    assert len(unportable("../con/a?\x07.")) == 5


@pytest.mark.parametrize(
    ("name", "device"), [("con", True), ("CON.txt", True), ("console", False), ("icon", False), ("com10", False)]
)
def test_device_names_count_with_any_suffix_and_nothing_else(name: str, device: bool) -> None:
    assert is_device(name) is device


def test_a_tab_is_a_control_character_and_a_letter_is_none() -> None:
    assert has_controls("a\tb")
    assert not has_controls("Überprüfung 検査")


@pytest.mark.parametrize(
    "paths",
    [
        ["A", "a"],
        ["Skills/x", "skills/y"],
        ["straße", "STRASSE"],
        ["é", "E\u0301"],
        ["a", "a/b"],
        ["A", "a/b"],
        ["x/y", "x/y/z/w"],
    ],
)
def test_paths_that_become_one_elsewhere_are_named(paths: list[str]) -> None:
    (problem,) = collisions(paths)
    assert "rename one" in problem


def test_paths_that_only_resemble_each_other_are_no_collision() -> None:
    assert collisions(["a", "a.b", "ab/c", "a-b", "b/a", "b/c/a"]) == ()


@given(st.lists(NAMES, unique=True))
def test_the_order_of_paths_does_not_change_what_is_found(paths: list[str]) -> None:
    assert collisions(paths) == collisions(list(reversed(paths)))


@given(st.lists(st.sampled_from(["a", "A", "b", "a/b", "A/b", "a/B", "b/c"]), unique=True))
def test_paths_without_a_collision_make_as_many_files_where_case_is_folded(paths: list[str]) -> None:
    if collisions(paths) == ():
        folded = {path.casefold() for path in paths}
        assert len(folded) == len(paths)
        assert all(parent not in folded for path in folded for parent in parents(path))


def test_the_parents_of_a_path_come_outermost_first() -> None:
    assert parents("a/b/c") == ("a", "a/b")
    assert parents("a") == ()


def test_ten_thousand_paths_are_checked_in_a_moment() -> None:
    paths = [f"d{index % 100}/e{index % 7}/file{index}" for index in range(10_000)]
    began = time.perf_counter()
    assert collisions(paths) == ()
    assert time.perf_counter() - began < 10
