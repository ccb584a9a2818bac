from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness2_core.model.errors import InvalidValue
from harness2_core.model.namespace import (
    BENCH,
    LARGEST_K,
    LARGEST_SEED,
    SHORT,
    TAG,
    Namespace,
    draw,
    label_name,
    parse_namespace,
)
from harness2_core.model.paths import unportable

SEEDS = st.none() | st.integers(0, LARGEST_SEED)


@st.composite
def namespaces(pick: st.DrawFn) -> Namespace:
    tag = pick(st.just("") | st.from_regex(TAG, fullmatch=True) | st.from_regex(r"[a-z0-9.\-]{1,9}", fullmatch=True))
    bench = pick(st.from_regex(BENCH, fullmatch=True))
    substrate, mode = pick(st.from_regex(SHORT, fullmatch=True)), pick(st.from_regex(SHORT, fullmatch=True))
    k, seed = pick(st.integers(1, LARGEST_K)), pick(SEEDS)
    try:
        return Namespace(bench, substrate, mode, k, seed, tag)
    except InvalidValue:
        assume(False)
        raise


@given(namespaces())
def test_a_namespace_parses_back_one_way(namespace: Namespace) -> None:
    assert parse_namespace(str(namespace)) == namespace


@given(namespaces())
def test_a_namespace_and_its_library_are_directory_names_on_every_system(namespace: Namespace) -> None:
    assert unportable(str(namespace)) == ()
    assert unportable(namespace.library) == ()


@given(st.text("abs-_.0127", max_size=30))
def test_whatever_parses_is_written_the_same_way(text: str) -> None:
    try:
        namespace = parse_namespace(text)
    except InvalidValue:
        return
    assert str(namespace) == text


@pytest.mark.parametrize(
    ("text", "namespace"),
    [
        ("jb-oc-agg2", Namespace("jb", "oc", "agg", 2)),
        ("jb-oc-agg2-s7", Namespace("jb", "oc", "agg", 2, 7)),
        ("jb-oc-agg2-s7-try", Namespace("jb", "oc", "agg", 2, 7, "try")),
        ("jb-oc-agg2-try-s7", Namespace("jb", "oc", "agg", 2, None, "try-s7")),
        ("jb-oc-agg12-seven", Namespace("jb", "oc", "agg", 12, None, "seven")),
        ("jb-oc-agg2-s7x", Namespace("jb", "oc", "agg", 2, None, "s7x")),
        ("a_1-cx-seq1-s0-0", Namespace("a_1", "cx", "seq", 1, 0, "0")),
    ],
)
def test_each_part_is_where_it_belongs(text: str, namespace: Namespace) -> None:
    assert parse_namespace(text) == namespace
    assert str(namespace) == text


@pytest.mark.parametrize(
    "tag",
    ["s7", "s7-x", "s07", "-x", "x-", ".", "..", ".x", "x.", "a/b", "a b", "a\n", "é", "x" * 65, "a\x00", "%2F", "~"],
)
def test_a_tag_that_could_be_taken_for_something_else_is_refused(tag: str) -> None:
    with pytest.raises(InvalidValue, match="tag"):
        Namespace("jb", "oc", "agg", 2, None, tag)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "jb",
        "jb-oc-agg",
        "jb-oc-agg0",
        "jb-oc-agg02",
        "jb-oc-a2",
        "jb-oc-Agg2",
        "JB-oc-agg2",
        "jb-o-agg2",
        "jb-oc-agg2-",
        "jb-oc-agg2-s07",
        "jb-oc-agg2-s1-s2",
        "jb-oc-agg2\n",
        "jb-oc-agg2-" + "9" * 5000,
        "jb-oc-agg" + "9" * 5000,
        "jb-oc-agg２",
        "1jb-oc-agg2",
        "j-b-oc-agg2",
    ],
)
def test_anything_else_is_no_namespace(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_namespace(text)


@pytest.mark.parametrize("change", [{"k": 0}, {"k": LARGEST_K + 1}, {"seed": -1}, {"seed": LARGEST_SEED + 1}])
def test_numbers_that_would_not_parse_back_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(InvalidValue, match="an integer from"):
        Namespace(**{"bench": "jb", "substrate": "oc", "mode": "agg", "k": 1, **change})  # type: ignore[arg-type]


def test_the_modes_of_an_experiment_differ_in_their_token_only() -> None:
    home = Namespace("jb", "oc", "agg", 2, 7, "try")
    assert str(home.of_mode("seq")) == "jb-oc-seq2-s7-try"
    assert home.of_mode("seq").library == home.library == "k2-oc-s7-try"


def test_a_draw_names_the_attempt_only_from_the_second_on() -> None:
    namespace = Namespace("jb", "oc", "agg", 2)
    assert draw(namespace, "law/7", "inv1") == "jb-oc-agg2/law/7/inv1"
    assert draw(namespace, "law/7", "inv1.fix", 3) == "jb-oc-agg2/law/7/inv1.fix.a3"


@pytest.mark.parametrize(
    ("label", "good"),
    [("inv1", True), ("inv1.fix", True), ("inv1.a2", True), ("inv1.fix.a10", True), ("c_1", True)]
    + [(label, False) for label in ("", "1", "Inv", "inv1.a1", "inv1.a0", "inv.fix.fix", "inv1.a2.fix", "a-b", "a/b")],
)
def test_labels_have_one_form(label: str, good: bool) -> None:
    class Field:
        name = "label"

    try:
        label_name(None, Field(), label)
        taken = True
    except InvalidValue:
        taken = False
    assert taken is good


def test_no_field_of_a_namespace_can_hold_the_separator() -> None:
    assert [pattern for pattern in (BENCH, SHORT) if re.fullmatch(pattern, "ab-cd")] == []
