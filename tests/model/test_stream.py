"""Streams: the same for the same seed, domain and tasks; they grow only at their ends."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.errors import ConfigError
from harness2_core.model.stream import chosen_tasks, grown, ordered_domains, ordered_tasks

NAMES = st.lists(st.text("abcdef/", min_size=1, max_size=4), unique=True, max_size=8)


@given(NAMES, st.integers(0, 9) | st.none())
def test_a_stream_does_not_depend_on_the_order_in_which_tasks_were_found(tasks: list[str], seed: int | None) -> None:
    assert ordered_tasks("d", tasks, seed) == ordered_tasks("d", list(reversed(tasks)), seed)


def test_a_stream_is_the_same_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from harness2_core.model.stream import ordered_domains as d, ordered_tasks as t\n"
        "found = {'a', 'b', 'c', 'd', 'e'}; print(t('d', found, 7), d(dict.fromkeys(found, 1), 7))"
    )

    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(seen) == 1


def test_a_seed_shuffles_each_domain_by_itself() -> None:
    tasks = [f"t{n}" for n in range(8)]

    assert ordered_tasks("one", tasks, 7) != ordered_tasks("two", tasks, 7)
    assert ordered_tasks("one", tasks, 7) != ordered_tasks("one", tasks, 8)


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 9), max_size=6),
    st.integers(0, 9) | st.none(),
)
def test_the_order_of_domains_does_not_depend_on_the_order_in_which_they_were_found(
    sizes: dict[str, int], seed: int | None
) -> None:
    backwards = dict(reversed(sizes.items()))

    assert ordered_domains(sizes, seed) == ordered_domains(backwards, seed)
    assert sorted(ordered_domains(sizes, seed)) == sorted(sizes)


def test_domains_come_by_falling_count_then_name_without_a_seed() -> None:
    assert ordered_domains({"b": 2, "a": 2, "c": 5}, None) == ("c", "a", "b")


def test_a_frozen_order_must_cover_every_domain() -> None:
    assert ordered_domains({"b": 1, "a": 1}, None, ["b", "x", "a"]) == ("b", "a")
    with pytest.raises(ConfigError, match="does not cover a"):
        ordered_domains({"a": 1}, None, ["b"])


@given(before=NAMES, more=NAMES, seed=st.integers(0, 3) | st.none())
def test_new_tasks_go_to_the_end_and_nothing_changes_its_place(
    before: list[str], more: list[str], seed: int | None
) -> None:
    held = {"d": ordered_tasks("d", before, seed)}

    now = grown(held, {"d": {*before, *more}}, seed)

    assert now["d"][: len(before)] == held["d"]
    assert set(now["d"]) == {*before, *more}


def test_a_subset_run_takes_nothing_out_of_the_stream() -> None:
    held = {"d": ("t1", "t2", "t3")}

    assert grown(held, {"d": {"t2"}}, None) == held


def test_max_tasks_counts_per_domain_and_unknown_names_are_errors() -> None:
    stream = {"a": ("a1", "a2"), "b": ("b1",)}

    assert chosen_tasks(stream, max_tasks=1) == {"a": ("a1",), "b": ("b1",)}
    assert chosen_tasks(stream, only_tasks=["a2"]) == {"a": ("a2",)}
    assert chosen_tasks(stream, only_domains=["b"]) == {"b": ("b1",)}
    with pytest.raises(ConfigError, match="unknown task 'a9'"):
        chosen_tasks(stream, only_tasks=["a9"])
    with pytest.raises(ConfigError, match="unknown domain 'c'"):
        chosen_tasks(stream, only_domains=["c"])
