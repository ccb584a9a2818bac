from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import InvalidValue
from harness2_core.model.manifest import blob_entry
from harness2_core.model.paths import collisions, unportable
from harness2_core.model.tree import HarnessTree, diff

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
PATHS = st.text("abc/._-", min_size=1, max_size=8).filter(lambda path: not unportable(path))
FILES = st.dictionaries(PATHS, TEXTS, max_size=5).filter(lambda files: not collisions(files))


@given(FILES)
def test_the_order_of_files_does_not_change_a_tree_or_its_fingerprint(files: dict[str, str]) -> None:
    one, other = HarnessTree(files), HarnessTree(dict(reversed(list(files.items()))))
    assert one == other
    assert hash(one) == hash(other)
    assert one.fingerprint == other.fingerprint


@given(FILES, FILES)
def test_trees_have_one_fingerprint_exactly_when_they_are_equal(one: dict[str, str], other: dict[str, str]) -> None:
    same = HarnessTree(one).fingerprint == HarnessTree(other).fingerprint
    assert same is (one == other)


def test_text_is_kept_to_the_byte() -> None:
    tree = HarnessTree({"a": "x\r\ny\r\ufeffz"})
    assert tree.manifest().entries["a"] == blob_entry(b"x\r\ny\r\xef\xbb\xbfz")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"../a": ""}, "climbs"),
        ({"/a": ""}, "absolute"),
        ({"a//b": ""}, "segment"),
        ({"e\u0301": ""}, "NFC"),
        ({"A": "", "a": ""}, "case"),
        ({"a": "", "a/b": ""}, "directory"),
        ({"nul.md": ""}, "device"),
        ({"a": "x\x00y"}, "NUL"),
        ({"a": "\ud800"}, "UTF-8"),
        ({"a\u202eb": ""}, "control"),
    ],
)
def test_what_cannot_travel_is_no_tree(files: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        HarnessTree(files)


def test_all_problems_of_a_tree_are_told_at_once() -> None:
    with pytest.raises(InvalidValue) as caught:
        HarnessTree({"../a": "", "con": "", "b": "\x00", "C": "", "c": ""})
    assert [word for word in ("climbs", "device", "NUL", "case") if word not in str(caught.value)] == []


@given(FILES)
def test_equal_trees_have_no_difference(files: dict[str, str]) -> None:
    assert diff(HarnessTree(files), HarnessTree(files)) == ""


@given(FILES, FILES)
def test_trees_that_differ_show_every_path_that_does(one: dict[str, str], other: dict[str, str]) -> None:
    shown = diff(HarnessTree(one), HarnessTree(other))
    changed = [path for path in {*one, *other} if one.get(path) != other.get(path)]
    assert bool(shown) is bool(changed)
    for path in changed:
        assert (f"--- base/{path}" in shown) or (f"+++ new/{path}" in shown)


def test_an_added_and_a_removed_file_stand_against_nothing() -> None:
    shown = diff(HarnessTree({"old": "a\n"}), HarnessTree({"new": "b\n"}), "base", "inv1")
    assert shown.splitlines() == [
        "--- /dev/null",
        "+++ inv1/new",
        "@@ -0,0 +1 @@",
        "+b",
        "--- base/old",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-a",
    ]


@pytest.mark.parametrize(("before", "after"), [("a\n", "a"), ("a\n", "a\r\n"), ("a b\n", "a\u2028b\n"), ("", "a")])
def test_no_change_of_text_is_hidden(before: str, after: str) -> None:
    body = [
        line for line in diff(HarnessTree({"f": before}), HarnessTree({"f": after})).split("\n") if line[:1] in "+-"
    ]
    assert len([line for line in body if not line.startswith(("+++", "---"))]) >= 1


def test_only_a_line_feed_ends_a_line_of_a_difference() -> None:
    shown = diff(HarnessTree({"f": "a\u2028b\x0cc\rd\n"}), HarnessTree({"f": "a\u2028b\x0cc\re\n"}))
    assert shown.split("\n")[2:] == ["@@ -1 +1 @@", "-a\u2028b\x0cc\rd", "+a\u2028b\x0cc\re", ""]


def test_a_missing_line_end_is_said() -> None:
    assert "\\ No newline at end of file\n" in diff(HarnessTree({"f": "a\n"}), HarnessTree({"f": "a"}))


def test_an_empty_file_that_appears_is_shown() -> None:
    assert diff(HarnessTree({}), HarnessTree({"f": ""})) == "--- /dev/null\n+++ new/f\n"
