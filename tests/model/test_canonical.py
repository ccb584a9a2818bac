from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.canonical import Json, canonical, digest_bytes, encodable, is_digest
from harness2_core.model.errors import InvalidValue
from harness2_core.model.frozen import FrozenMap

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=12,
)


@given(VALUES)
def test_canonical_json_reads_back_as_the_value(value: Json) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(TEXTS, VALUES, min_size=2))
def test_the_order_in_which_a_mapping_was_built_does_not_count(value: dict[str, Json]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert canonical(backwards) == canonical(value)


def test_keys_are_sorted_by_code_point_and_nothing_is_spaced_or_escaped() -> None:
    assert canonical({"é": 1, "z": [True, None], "Z": "a\u2028ß"}) == '{"Z":"a\u2028ß","z":[true,null],"é":1}'.encode()


def test_a_code_point_beyond_the_basic_plane_sorts_after_one_inside_it() -> None:
    # UTF-16 would sort them the other way round
    assert canonical({"\U0001f600": 1, "\uffee": 2}) == '{"\uffee":2,"\U0001f600":1}'.encode()


def test_frozen_maps_and_tuples_are_written_as_their_plain_forms() -> None:
    assert canonical(FrozenMap({"b": (1, 2), "a": FrozenMap({"c": "d"})})) == b'{"a":{"c":"d"},"b":[1,2]}'


@pytest.mark.parametrize("value", [1.0, float("nan"), b"x", {1, 2}, object()])
def test_what_has_no_canonical_json_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(InvalidValue, match=r"\$\.outer\[1\]"):
        canonical({"outer": [0, value]})  # type: ignore[list-item]


def test_a_key_that_is_no_string_is_refused_although_json_would_convert_it() -> None:
    with pytest.raises(InvalidValue, match="key 1 is not a string"):
        canonical({"a": {1: "x"}})  # type: ignore[dict-item]


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}])
def test_an_unpaired_surrogate_is_refused_with_the_way_out(value: Json) -> None:
    with pytest.raises(InvalidValue, match="surrogate") as caught:
        canonical(value)
    assert "errors='replace'" in caught.value.remedy


@given(st.text())
def test_any_text_can_be_made_encodable(text: str) -> None:
    assert encodable(text).encode().decode() == encodable(text)


@given(TEXTS)
def test_text_that_is_encodable_stays_as_it_is(text: str) -> None:
    assert encodable(text) is text


def test_only_the_unpaired_half_is_replaced() -> None:
    assert encodable("a\ud800b😀") == "a\ufffdb😀"


def test_a_digest_is_sha256_in_lower_case_hexadecimal() -> None:
    assert digest_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("text", "good"), [("0" * 64, True), ("A" * 64, False), ("0" * 63, False), ("0" * 65, False), ("g" * 64, False)]
)
def test_a_digest_has_64_lower_case_digits(text: str, good: bool) -> None:
    assert is_digest(text) is good
