"""Every record type, with values that hypothesis makes up, through bytes and back."""

from __future__ import annotations

import contextlib
import inspect
import json
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness2_core.model import (
    assignment,
    bench,
    identity,
    plan,
    prices,
    records,
    requests,
    serial,
    surface,
    trajectory,
)
from harness2_core.model.canonical import Json, canonical
from harness2_core.model.channel import Outcome
from harness2_core.model.errors import Damaged
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.manifest import Manifest, blob_entry
from harness2_core.model.serial import SCHEMA, dump, from_plain, load, plain

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
DIGESTS = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
LABELS = st.sampled_from(["inv1", "dom_2", "agg", "c10"])
DRAWS = LABELS.map(lambda label: f"jb-oc-agg2-s7/law 7/{label}")
PATHS = st.sampled_from(["a/b", "a/c", "é.txt", "x/y/z"])
COUNTS = st.integers(0, 2**40)

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    # what a validator asks for beyond the type, by "Class.field" or by the field's name alone
    "RolloutRequest.draw": DRAWS,
    "SessionRequest.draw": DRAWS,
    "GradeRequest.draw": st.just("") | DRAWS,
    "SessionRequest.role": LABELS,
    "SessionRequest.kind": LABELS,
    "Stage.label": LABELS,
    "bench": LABELS,
    "name": LABELS,
    "substrate": st.just("oc"),
    "usd": st.none() | st.sampled_from(["0", "0.25", "12"]),
    **{f"Price.{name}": st.sampled_from(["0", "0.25", "12"]) for name in attrs.fields_dict(prices.Price)},
    "task_digest": DIGESTS,
    "tree": DIGESTS,
    "evidence": DIGESTS,
    "editable": st.none() | DIGESTS,
    "rollout": DIGESTS,
    "grader": DIGESTS,
    "material": DIGESTS,
    "limit_seconds": st.integers(1, 10**6),
    "observation_chars": st.integers(10_000, 10**6),
    "max_files": st.integers(1, 999),
    "max_chars": st.integers(1, 999),
    "batch": st.integers(1, 99),
    "network": st.sampled_from(["none", "model", "open", "hosts:a.example,b.example"]),
    "deliverables": st.sampled_from(["contents", "names"]),
    "selection_conformance": st.sampled_from(["full", "value_only"]),
    "BenchSpec.reserved_scripts": st.just(("read_doc.py",)),
    "BenchSpec.deliverables": st.sampled_from(["contents", "names"]),
    "Rollout.deliverables": st.builds(Manifest, st.dictionaries(PATHS, st.builds(blob_entry, st.binary(max_size=4)))),
    "component": st.sampled_from(surface.COMPONENTS),
    "pattern": st.just("skills/<name>/SKILL.md"),
}
WHOLE: dict[type, st.SearchStrategy[Any]] = {
    Manifest: st.builds(Manifest, st.dictionaries(PATHS, st.builds(blob_entry, st.binary(max_size=4)), max_size=3)),
    bench.BenchWords: st.builds(bench.BenchWords, work=LABELS.map(lambda word: f"work {word}")),
    plan.Plan: st.integers(1, 4).map(
        lambda k: plan.Plan(
            (plan.Stage("inv1", "inv", "base", ("base1",), of=k), plan.Roll("inv1", "inv1")), ("inv1",), k + 1, 1
        )
    ),
    surface.Surface: st.builds(
        surface.Surface,
        LABELS,
        st.just(("AGENTS.md", "notes.md")),
        COUNTS,
        st.lists(
            st.sampled_from([surface.Allowed("skill", "s/<name>.md"), surface.Allowed("script", "x.py", "r", "c")])
        ).map(tuple),
        required=st.just(("notes.md",)),
        trigger_file=st.sampled_from(["", "AGENTS.md"]),
        skill_name=st.sampled_from(["required", "optional"]),
        sub_agents=st.booleans(),
        sub_agent_mode=TEXTS,
        hook_events=st.lists(TEXTS).map(tuple),
        plain_always_on=st.booleans(),
        reserved_scripts=st.lists(TEXTS).map(tuple),
        max_files=st.integers(1, 999),
    ),
    plan.Stage: st.builds(plan.Stage, LABELS, LABELS, LABELS, st.lists(LABELS).map(tuple)),
    plan.Roll: st.builds(plan.Roll, LABELS, LABELS),
}


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of an annotated type."""
    if kind in WHOLE:
        return WHOLE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is FrozenMap:
        return st.dictionaries(TEXTS, values_of(arguments[0]), max_size=3).map(FrozenMap)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if kind is type(None):
        return st.none()
    if attrs.has(kind):
        return built(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    simple: dict[Any, st.SearchStrategy[Any]] = {str: TEXTS, int: COUNTS, bool: st.booleans()}
    return simple[kind]


def built(kind: Any) -> st.SearchStrategy[Any]:
    """Values of an attrs class, field by field."""
    hints = get_type_hints(kind)
    named = {}
    for part in attrs.fields(kind):
        own, shared = FIELDS.get(f"{kind.__name__}.{part.name}"), FIELDS.get(part.name)
        if own is not None:
            named[part.name] = own
        elif shared is not None and part.validator:
            named[part.name] = shared
        elif "digest" in part.name and part.validator:
            named[part.name] = DIGESTS
        else:
            named[part.name] = values_of(hints[part.name])
    return st.builds(kind, **named)


def classes(module: Any) -> list[type]:
    return [
        value
        for _, value in inspect.getmembers(module, inspect.isclass)
        if attrs.has(value) and value.__module__ == module.__name__
    ]


RECORDS = [
    *classes(records),
    *classes(requests),
    *classes(trajectory),
    assignment.Assignment,
    assignment.Ended,
    bench.TaskCard,
    bench.BenchSpec,
    bench.BenchWords,
    identity.Experiment,
    plan.Plan,
    surface.Surface,
]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_every_record_type_reads_back_as_it_was_written(kind: type, data: st.DataObject) -> None:
    value = data.draw(values_of(kind))
    written = dump(value)
    assert load(written, kind) == value
    assert dump(load(written, kind)) == written


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_one_changed_byte_is_damage_or_another_value_and_never_another_error(kind: type, data: st.DataObject) -> None:
    written = bytearray(dump(data.draw(values_of(kind))))
    written[data.draw(st.integers(0, len(written) - 1))] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(Damaged):
        load(bytes(written), kind)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=3)
@given(data=st.data())
def test_an_unknown_key_is_damage_and_no_key_is_dropped(kind: type, data: st.DataObject) -> None:
    fields = json.loads(dump(data.draw(values_of(kind))))
    with pytest.raises(Damaged, match="unheard_of"):
        load(json.dumps({**fields, "unheard_of": 1}).encode(), kind)


ROLLOUT = records.Rollout("0" * 64, Outcome.FINISHED, delivered=True, note="é")
WRITTEN = dump(ROLLOUT)


def changed(**fields: Json) -> bytes:
    return json.dumps({**json.loads(WRITTEN), **fields}).encode()


def test_a_record_says_its_type_and_schema_and_leaves_defaults_out() -> None:
    assert json.loads(WRITTEN) == {
        "type": "Rollout",
        "schema": SCHEMA,
        "request": "0" * 64,
        "outcome": "finished",
        "delivered": True,
        "note": "é",
    }
    assert canonical(json.loads(WRITTEN)) == WRITTEN


def test_a_record_of_a_newer_schema_asks_for_an_upgrade() -> None:
    with pytest.raises(Damaged, match=rf"store/x: written by a newer Harness2 \(schema {SCHEMA + 1}") as caught:
        load(changed(schema=SCHEMA + 1), records.Rollout, "store/x")
    assert caught.value.remedy == "upgrade harness2-core"


def test_a_record_of_an_older_schema_is_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(fields: dict[str, Json]) -> dict[str, Json]:
        return {("delivered" if key == "has_output" else key): value for key, value in fields.items()}

    def worded(fields: dict[str, Json]) -> dict[str, Json]:
        return {**fields, "outcome": {"done": "finished"}[str(fields["outcome"])]}

    monkeypatch.setattr(serial, "SCHEMA", 3)
    monkeypatch.setattr(serial, "MIGRATIONS", {("Rollout", 1): renamed, ("Rollout", 2): worded, ("Reply", 1): {}.pop})
    old: dict[str, Json] = {
        "type": "Rollout",
        "schema": 1,
        "request": "0" * 64,
        "outcome": "done",
        "has_output": True,
        "note": "é",
    }
    assert load(canonical(old), records.Rollout) == ROLLOUT


def test_a_migration_that_stumbles_is_damage_of_that_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fields: dict[str, Json]) -> dict[str, Json]:
        return {"request": fields["absent"]}

    monkeypatch.setattr(serial, "SCHEMA", 2)
    monkeypatch.setattr(serial, "MIGRATIONS", {("Rollout", 1): broken})
    with pytest.raises(Damaged, match="store/x: not a valid Rollout: KeyError"):
        load(WRITTEN, records.Rollout, "store/x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"[" * 100_000,
        b'{"type":"Rollout"}',
        b'{"schema":1}',
        WRITTEN[:-1],
        WRITTEN + b"x",
        changed(schema="1"),
        changed(schema=True),
        changed(schema=0),
        changed(schema=-5),
        changed(type=["Rollout"]),
    ],
)
def test_bytes_that_are_no_record_are_damage_with_the_place_and_a_way_out(data: bytes) -> None:
    with pytest.raises(Damaged, match="store/x: not a record of Harness2") as caught:
        load(data, records.Rollout, "store/x")
    assert "resume" in caught.value.remedy


def test_a_record_of_another_type_is_damage() -> None:
    with pytest.raises(Damaged, match="a Rollout where a Reply was expected"):
        load(WRITTEN, records.Reply)


@pytest.mark.parametrize(
    "fields",
    [
        {"request": 1},
        {"request": None},
        {"outcome": "won"},
        {"outcome": 1},
        {"delivered": 1},
        {"delivered": "true"},
        {"note": ["a"]},
        {"versions": {"a": 1}},
        {"versions": []},
        {"transcript": {"digest": "0" * 64}},
        {"transcript": {"digest": "0" * 64, "size": "1"}},
        {"transcript": {"digest": "x", "size": 1}},
        {"transcript": []},
        {"deliverables": {"entries": {"../x": {"digest": "0" * 64, "size": 1}}}},
        {"usage": {"usd": 0.25}},
        {"usage": {"usd": "1e3"}},
        {"usage": {"tokens": {"input": 1.5}}},
        {"usage": {"tokens": {"input": True}}},
    ],
)
def test_a_value_of_another_type_is_damage_and_never_converted(fields: dict[str, Json]) -> None:
    with pytest.raises(Damaged, match="not a valid Rollout"):
        load(changed(**fields), records.Rollout)


def test_a_text_where_a_list_belongs_is_not_split_into_letters() -> None:
    with pytest.raises(Damaged, match="not a valid Reply"):
        load(dump(records.Reply(Outcome.FINISHED, problems=("a",))).replace(b'["a"]', b'"a"'), records.Reply)


def test_a_field_at_its_default_and_a_field_left_out_are_one_value() -> None:
    assert load(changed(delivered=True, cause=""), records.Rollout) == ROLLOUT


def test_events_keep_their_kinds() -> None:
    events = (
        trajectory.Assistant("a"),
        trajectory.Reasoning("a"),
        trajectory.Failure("a"),
        trajectory.Observation("a"),
    )
    assert from_plain(plain(trajectory.Trajectory(events)), trajectory.Trajectory).events == events
