"""Playbooks: what they may say, and what a remedy does to a tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harness2_local.playbook import Remedy, read_playbook

from harness2_core.api import ConfigError

GOOD = """
[[remedy]]
name = "once"
kind = "inv"
symptom = 'seen before'
file = "scripts/a.py"
old = "x"
new = "y"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "playbook.toml"
    path.write_text(text, encoding="utf-8")
    return path


def remedy(old: str = "", new: str = "", text: str = "", library: str | None = None) -> Remedy:
    pattern = re.compile(library) if library is not None else None
    return Remedy("a", "inv", re.compile("x"), "f", old=old, new=new, text=text, from_library=pattern)


def test_a_remedy_is_read_whole(tmp_path: Path) -> None:
    (read,) = read_playbook(written(tmp_path, GOOD + 'lesson = { cue = "a  b", lesson = "c" }\n')).remedies
    assert (read.name, read.kind, read.file, read.old, read.new) == ("once", "inv", "scripts/a.py", "x", "y")
    assert (read.cue, read.lesson) == ("a b", "c")
    assert read.where == ("rollouts/*.md", "pool/*/rollout.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("symptom", "sympton"), "unknown key 'sympton'"),
        (GOOD.replace("[[remedy]]", "[[remedies]]"), "unknown key 'remedies'"),
        (GOOD.replace('"inv"', '"agg"'), "kind is 'agg'"),
        (GOOD.replace("'seen before'", "'('"), "no regular expression"),
        (GOOD.replace("symptom = 'seen before'", ""), "no symptom"),
        (GOOD.replace('"scripts/a.py"', '"../a.py"'), "climbs out"),
        (GOOD.replace('old = "x"', ""), "does not say what to edit"),
        (GOOD + 'text = "z"\n', "does not say what to edit"),
        (GOOD + 'from_library = "z"\n', "does not say what to edit"),
        (GOOD.replace('"once"', '"On ce"'), "its name will not do"),
        (GOOD.replace('"x"', "3"), "old is 3"),
        (GOOD + 'where = "task.md"\n', "where is 'task.md'"),
        (GOOD + 'lesson = { cue = "a" }\n', "lesson is"),
        (GOOD + 'lesson = { cue = "a", lesson = " " }\n', "blank part"),
        (GOOD + GOOD, "two remedies are named 'once'"),
        ("remedy = 3", "no list of tables"),
        ("= 3", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as raised:
        read_playbook(written(tmp_path, text))
    assert "playbook.toml" in raised.value.what
    assert raised.value.remedy


def test_a_missing_playbook_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        read_playbook(tmp_path / "absent.toml")


def test_a_replacement_needs_its_place_exactly_once() -> None:
    assert remedy("b", "c").mended({"f": "abc"}, None) == "acc"
    assert remedy("b", "c").mended({"f": "abcb"}, None) is None
    assert remedy("b", "c").mended({"f": "xyz"}, None) is None
    assert remedy("b", "c").mended({}, None) is None


def test_an_insertion_is_not_done_twice() -> None:
    insertion = remedy("b\n", "b\nnew\n")
    once = insertion.mended({"f": "a\nb\n"}, None)
    assert once == "a\nb\nnew\n"
    assert insertion.mended({"f": once}, None) is None


def test_a_replacement_is_done_though_its_result_stands_elsewhere_too() -> None:
    assert remedy("b", "c").mended({"f": "b c"}, None) == "c c"
    assert not remedy("b", "c").is_in({"f": "b c"})
    assert remedy("b", "c").is_in({"f": "c c"})


def test_a_whole_text_and_a_file_of_the_library_are_taken_unless_they_are_there() -> None:
    assert remedy(text="t").mended({"f": "a"}, None) == "t"
    assert remedy(text="t").mended({"f": "t"}, None) is None
    assert remedy(library="x").mended({"f": "a"}, "from there") == "from there"
    assert remedy(library="x").mended({"f": "same"}, "same") is None
    assert remedy(library="x").mended({"f": "a"}, None) is None
