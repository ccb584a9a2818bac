"""Streams as they really arrive."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from harness2_agents.stream import Json, Record, count_at, list_at, object_at, records, text_at
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), JSON, max_size=4)


def cut_into(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        yield data[:size]
        data = data[size:]
    yield data


def values(*chunks: bytes) -> list[object]:
    return [record.value for record in records(chunks)]


@given(st.lists(OBJECT, max_size=6), st.lists(st.integers(0, 40), max_size=20))
def test_objects_arrive_whole_wherever_chunks_are_cut(given_: list[dict[str, object]], sizes: list[int]) -> None:
    lines = [json.dumps(item, ensure_ascii=False).replace("\x00", "") for item in given_]
    data = "".join(line + "\r\n" for line in lines).encode()
    assert [record.value for record in records(cut_into(data, sizes))] == [json.loads(line) for line in lines]


@given(st.binary(max_size=300), st.lists(st.integers(0, 40), max_size=20))
def test_any_bytes_are_read_and_say_the_same_however_they_are_cut(data: bytes, sizes: list[int]) -> None:
    assert list(records(cut_into(data, sizes))) == list(records([data]))


@given(st.lists(OBJECT, min_size=1, max_size=4), st.data())
def test_any_prefix_gives_a_prefix_of_the_records(given_: list[dict[str, object]], data: st.DataObject) -> None:
    stream = "".join(json.dumps(item) + "\n" for item in given_).encode()
    whole = list(records([stream]))
    part = list(records([stream[: data.draw(st.integers(0, len(stream)))]]))
    objects = [record.value for record in part if record.value is not None]
    assert objects == [record.value for record in whole[: len(objects)]]
    assert all(record.cut for record in part[len(objects) :])


def test_what_lies_inside_an_object_that_broke_is_no_record() -> None:
    assert list(records([b'{"type":"a","part":{"b":1} oops\n'])) == [Record(None, '{"type":"a","part":{"b":1} oops')]


def test_spacing_of_the_json_does_not_matter() -> None:
    assert values(b'  { "type" :\t"text" , "n":1 }  \n') == [{"type": "text", "n": 1}]


def test_lines_that_are_no_objects_are_kept_with_their_text() -> None:
    found = list(records([b'Warning: old node\n{"a":1}\n[1, 2]\n\n   \n{"b":2}\n']))
    assert found == [
        Record(None, "Warning: old node"),
        Record({"a": 1}, '{"a":1}'),
        Record(None, "[1, 2]"),
        Record({"b": 2}, '{"b":2}'),
    ]


def test_words_on_the_line_of_an_object_are_told_apart_from_it() -> None:
    assert list(records([b'warn {x} {"a":1}{"b":2} tail\n'])) == [
        Record(None, "warn {x} "),
        Record({"a": 1}, '{"a":1}'),
        Record({"b": 2}, '{"b":2}'),
        Record(None, " tail"),
    ]


def test_nul_and_bytes_that_are_no_text_cost_no_object() -> None:
    assert values(b'{"a":"\x00x\xff"}\n\x00\x00\n') == [{"a": "x\ufffd"}]


def test_a_last_line_that_was_cut_is_kept_and_told() -> None:
    assert list(records([b'{"a":1}\n{"b":', b'"half'])) == [
        Record({"a": 1}, '{"a":1}'),
        Record(None, '{"b":"half', cut=True),
    ]


def test_a_complete_last_object_without_a_newline_was_not_cut() -> None:
    assert list(records([b'{"a":1}'])) == [Record({"a": 1}, '{"a":1}')]


def test_a_line_of_fifty_megabytes_is_read_at_once() -> None:
    line = b'{"type":"text","text":"' + b"x" * (50 << 20) + b'"}\n'
    began = time.monotonic()
    [record] = records(line[at : at + 65536] for at in range(0, len(line), 65536))
    assert len(text_at(record.value, "text")) == 50 << 20
    assert time.monotonic() - began < 30


def test_a_long_line_full_of_braces_takes_no_time_out_of_proportion() -> None:
    began = time.monotonic()
    [record] = records([b'{"a":' * 1_000_000])
    assert record.cut
    assert time.monotonic() - began < 30


def test_what_no_parser_can_hold_is_kept_as_text() -> None:
    deep = b'{"a":' + b"[" * 200_000 + b"\n"
    digits = b'{"a":' + b"1" * 10_000 + b"}\n"
    assert values(deep, digits) == [None, None]


def test_reading_values_never_fails_on_other_shapes() -> None:
    value: Json = json.loads('{"a":{"b":["x"],"n":3,"t":"yes","flag":true,"minus":-1,"big":1e300}}')
    assert text_at(value, "a", "t") == "yes"
    assert text_at(value, "a", "b") == '["x"]'
    assert text_at(value, "a", "t", "deeper") == text_at(value, "none") == ""
    assert list_at(value, "a", "b") == ["x"]
    assert list_at(value, "a") == []
    assert object_at(value, "a", "n") == {}
    assert [count_at(value, "a", key) for key in ("n", "flag", "minus", "big", "t")] == [3, 0, 0, 0, 0]
