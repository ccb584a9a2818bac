"""Settings on their way: to a worker and back, and into a request's identity."""

# ruff: noqa: RUF009  (`content` and `place` are attrs' `field`)

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Optional

import attrs
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import content, place
from harness2_core.model.errors import InvalidValue, PluginError
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.plugins.fields import fields_of
from harness2_core.plugins.settings import dump_settings, identity_settings, load_settings


@frozen
class Many:
    """Doc."""

    name: str = "plain"
    """What it is called,
    in a word."""
    count: int = 0
    lazy: bool = False
    flavour: Literal["sweet", "sour"] = "sweet"
    tags: tuple[str, ...] = ()
    words: FrozenMap[str] = field(factory=FrozenMap, converter=texts)
    folder: Path | None = None
    book: Path | None = content(default=None, metadata={"help": "The playbook."})
    shelves: Mapping[str, Path] = content(factory=FrozenMap)
    host: str = place(default="here")
    password: str = ""
    old: Optional[int] = None  # noqa: UP045  (the older form is to be understood)


FULL = Many(
    name="x",
    count=-4,
    lazy=True,
    flavour="sour",
    tags=("a", "b"),
    words={"k": "v"},
    folder=Path("/data/f"),
    book=Path("/data/book"),
    shelves=FrozenMap({"s": Path("/data/s")}),
    host="there",
    old=3,
)


def _digest(path: Path) -> str:
    return f"digest-of-{path.name}"


def test_only_what_results_depend_on_is_part_of_the_identity() -> None:
    assert dict(identity_settings(FULL, _digest)) == {
        "name": "x",
        "count": "-4",
        "lazy": "true",
        "flavour": "sour",
        "tags": '["a","b"]',
        "words": '{"k":"v"}',
        "book": "digest-of-book",
        "shelves": '{"s":"digest-of-s"}',
        "old": "3",
    }


def test_defaults_are_left_out_so_that_a_new_field_keeps_old_digests() -> None:
    assert dict(identity_settings(Many(), _digest)) == {}
    assert dict(identity_settings(Many(count=1), _digest)) == {"count": "1"}


def test_content_counts_even_at_its_default_path() -> None:
    @frozen
    class Shipped:
        book: Path = content(default=Path("/shipped/book"))

    assert dict(identity_settings(Shipped(), _digest)) == {"book": "digest-of-book"}


def test_an_instance_comes_back_from_its_text() -> None:
    text = dump_settings(FULL, lambda path, is_content: f"{'content' if is_content else 'place'}:{path}")
    assert load_settings(Many, text, lambda text: Path(text.partition(":")[2])) == FULL


def test_the_caller_is_told_which_paths_are_content() -> None:
    seen: dict[str, bool] = {}

    def path_text(path: Path, is_content: bool) -> str:
        seen[path.name] = is_content
        return str(path)

    dump_settings(FULL, path_text)

    assert seen == {"f": False, "book": True, "s": True}


@given(
    st.builds(
        Many,
        name=st.text(),
        count=st.integers(),
        lazy=st.booleans(),
        tags=st.lists(st.text()).map(tuple),
        words=st.dictionaries(st.text(), st.text()).map(FrozenMap),
        old=st.none() | st.integers(),
        folder=st.none(),
        book=st.none(),
    )
)
def test_any_instance_comes_back_and_its_text_is_canonical(settings: Many) -> None:
    text = dump_settings(settings, lambda path, is_content: str(path))
    assert load_settings(Many, text, Path) == settings
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("text", ["", "[]", '{"nmae": "x"}', '{"tags": [1]}', '{"words": {"a": 1}}', '{"folder": 3}'])
def test_text_of_another_class_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        load_settings(Many, text, Path)
    assert "same version" in caught.value.remedy


def test_fields_tell_their_form_default_and_help() -> None:
    fields = {item.name: item for item in fields_of(Many)}
    assert [fields[name].form for name in ("name", "flavour", "tags", "words", "folder", "shelves", "old")] == [
        "text",
        "choice",
        "texts",
        "text table",
        "path",
        "path table",
        "integer",
    ]
    assert fields["name"].help == "What it is called, in a word."
    assert fields["book"].help == "The playbook."
    assert fields["flavour"].choices == ("sweet", "sour")
    assert [name for name, item in fields.items() if item.content] == ["book", "shelves"]
    assert [name for name, item in fields.items() if item.place] == ["folder", "host"]
    assert [name for name, item in fields.items() if item.secret] == ["password"]
    assert fields["words"].default == {}


@pytest.mark.parametrize("hint", [float, list[str], str | int, tuple[int, ...], Mapping[str, int], Literal[1]])
def test_a_type_that_no_table_can_hold_names_class_and_field(hint: Any) -> None:
    cls = attrs.make_class("Odd", {"thing": attrs.field(default=None, type=hint)})
    with pytest.raises(PluginError, match=r"Odd\.thing") as caught:
        fields_of(cls)
    assert "tuple[str, ...]" in caught.value.remedy
