from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import InvalidValue
from harness2_core.model.frozen import FrozenMap, frozen_map, sayings, text_maps

ITEMS = st.dictionaries(st.text(), st.integers())


@given(ITEMS)
def test_it_holds_what_it_was_given_sorted_by_key(items: dict[str, int]) -> None:
    frozen = FrozenMap(items)
    assert dict(frozen) == items
    assert list(frozen) == sorted(items)
    assert len(frozen) == len(items)


@given(ITEMS)
def test_equal_content_is_equal_and_hashes_alike_whatever_the_order(items: dict[str, int]) -> None:
    one, other = FrozenMap(items), FrozenMap(dict(reversed(list(items.items()))))
    assert one == other
    assert hash(one) == hash(other)
    assert one == items


@given(ITEMS)
def test_copies_and_pickles_are_equal(items: dict[str, int]) -> None:
    frozen = FrozenMap(items)
    hash(frozen)  # a pickle must not carry the hash: another process has another seed
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert copy.deepcopy(frozen) == frozen
    assert b"_hash" not in pickle.dumps(frozen)


def test_what_was_put_in_can_change_without_changing_it() -> None:
    source = {"a": 1}
    frozen = FrozenMap(source)
    source["a"] = 2
    assert frozen["a"] == 1


def test_it_can_be_neither_set_nor_extended_nor_emptied() -> None:
    frozen = FrozenMap({"a": 1})
    with pytest.raises(AttributeError, match="cannot be changed"):
        frozen._items = {}
    with pytest.raises(AttributeError, match="cannot be changed"):
        del frozen._items
    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index]


def test_values_that_cannot_be_hashed_compare_but_do_not_hash() -> None:
    frozen = FrozenMap({"a": [1]})
    assert frozen == FrozenMap({"a": [1]})
    with pytest.raises(TypeError, match="unhashable"):
        hash(frozen)


def test_a_key_that_is_no_string_is_refused() -> None:
    with pytest.raises(InvalidValue, match="key 1"):
        FrozenMap({1: "a"})  # type: ignore[dict-item]


def test_a_frozen_map_is_not_copied_again() -> None:
    frozen = FrozenMap({"a": 1})
    assert frozen_map(frozen) is frozen


def test_nested_mappings_are_frozen_too() -> None:
    assert hash(text_maps({"a": {"b": "c"}})) == hash(text_maps({"a": FrozenMap({"b": "c"})}))


def test_sayings_are_made_fit_for_utf8() -> None:
    assert sayings(["a\ud800", "b"]) == ("a\ufffd", "b")
