"""The shape of a sweep: what waits for what."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.sweep.graph import Key, Node, Work, graph, rolls_of
from harness2_core.sweep.paths import Paths

ONE = Plan(
    steps=(Stage("inv1", "inv", "base", ("base1",)), Roll("inv1", "inv1"), Roll("again", "base")),
    finals=("inv1", "again"),
    rollouts=3,
    sessions=1,
)


def stream(*sizes: int, plans: dict[str, Plan] | None = None) -> list[list[Work]]:
    made = plans if plans is not None else {"one": ONE, "two": ONE}
    return [[Work(f"d{d}/t{t}", f"d{d}", made) for t in range(size)] for d, size in enumerate(sizes)]


def behind(nodes: Mapping[Key, Node], start: Key) -> set[Key]:
    """Everything that waits for `start`, directly or not."""
    found = {start}
    while True:
        more = {key for key, node in nodes.items() if found.intersection(node.needs)}
        if more <= found:
            return found - {start}
        found |= more


def test_a_stage_waits_for_what_the_former_task_of_its_domain_and_mode_had_adopted() -> None:
    nodes = graph(stream(2), lookahead=5)

    stage = Key("stage", "d0/t1", "one", "inv1")

    assert stage in behind(nodes, Key("close", "d0/t0", "one"))
    assert stage not in behind(nodes, Key("close", "d0/t0", "two"))


def test_bases_do_not_wait_for_the_library() -> None:
    nodes = graph(stream(2), lookahead=5)

    assert Key("bases", "d0/t1") not in behind(nodes, Key("close", "d0/t0", "one"))


@pytest.mark.parametrize("lookahead", [0, 1, 2])
def test_bases_are_rolled_ahead_up_to_the_lookahead(lookahead: int) -> None:
    nodes = graph(stream(4), lookahead)

    waits = [nodes[Key("open", f"d0/t{t}")].needs for t in range(4)]

    assert [[need for need in needs if need.what == "finish"] for needs in waits] == [
        [Key("finish", f"d0/t{t - lookahead - 1}")] if t > lookahead else [] for t in range(4)
    ]


def test_tasks_of_a_domain_are_opened_in_stream_order() -> None:
    nodes = graph(stream(3), lookahead=5)

    assert Key("open", "d0/t0") in nodes[Key("open", "d0/t1")].needs
    assert Key("open", "d0/t1") in nodes[Key("open", "d0/t2")].needs


def test_domains_do_not_wait_for_each_other() -> None:
    nodes = graph(stream(3, 3), lookahead=0)

    assert not any(key.task.startswith("d1") for key in behind(nodes, Key("open", "d0/t0")))


def test_the_modes_of_a_task_share_its_bases_and_nothing_else() -> None:
    nodes = graph(stream(1), lookahead=0)

    one = behind(nodes, Key("view", "d0/t0", "one"))

    assert {key.mode for key in one} == {"one", ""}
    assert {key.what for key in one if not key.mode} == {"finish"}


def test_rolls_of_one_tree_are_asked_for_together() -> None:
    assert rolls_of(ONE) == {"inv1": ("inv1",), "base": ("again",)}


def test_a_mode_that_an_earlier_task_has_finished_does_not_hold_up_the_next_task() -> None:
    works = [Work("d/t0", "d", {}), Work("d/t1", "d", {"one": ONE})]

    nodes = graph([works], lookahead=0)

    assert all(need in nodes for node in nodes.values() for need in node.needs)


@given(sizes=st.lists(st.integers(0, 4), max_size=4), lookahead=st.integers(0, 3))
def test_every_graph_is_acyclic_and_names_only_its_own_nodes(sizes: list[int], lookahead: int) -> None:
    nodes = graph(stream(*sizes), lookahead)

    order = tuple(TopologicalSorter({key: node.needs for key, node in nodes.items()}).static_order())

    assert set(order) == set(nodes)


def test_tails_begin_as_the_number_of_paid_steps_behind() -> None:
    paths = Paths(graph(stream(1, plans={"one": ONE}), lookahead=0))

    assert paths.tails[Key("finish", "d0/t0")] == 0
    assert paths.tails[Key("rolls", "d0/t0", "one", "inv1")] == 3  # itself, selection, reflection
    assert paths.tails[Key("open", "d0/t0")] == 5  # base, stage, roll, selection, reflection


def test_tails_follow_the_means_seen() -> None:
    paths = Paths(graph(stream(1, plans={"one": ONE}), lookahead=0))

    changed = paths.learn("session", 30.0)

    assert changed
    assert paths.mean("session") == 30.0
    assert paths.mean("rollout") == 30.0  # nothing better is known
    assert paths.tails[Key("stage", "d0/t0", "one", "inv1")] == 120.0


def test_tails_are_recomputed_only_when_a_count_doubles() -> None:
    paths = Paths(graph(stream(1), lookahead=0))

    changes = [paths.learn("rollout", 1.0) for _ in range(9)]

    assert [index + 1 for index, changed in enumerate(changes) if changed] == [1, 2, 4, 8]
