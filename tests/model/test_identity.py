"""What declines a resume, what only warns, and what may grow."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields

from harness2_core.model.channel import Channel
from harness2_core.model.identity import TABLE, Experiment, differences, joined, recorded_differences
from harness2_core.model.serial import dump, load

A, B = "a" * 64, "b" * 64
BEFORE = Experiment(
    bench="toy",
    substrate="py",
    k=2,
    seed=None,
    channels={"executor": Channel("m")},
    providers={"executor": "python"},
    plans={"agg": A},
    surface=A,
    selector="blind",
    reflector="lesson",
    base_tree=A,
    templates={"agg": A},
    stream={"d": ("t1", "t2")},
    tasks={"t1": A, "t2": A},
    recorded={"core": "0.1.0"},
)


def test_an_unchanged_experiment_goes_on() -> None:
    assert differences(BEFORE, BEFORE) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", 3),
        ("seed", 7),
        ("channels", {"executor": Channel("other")}),
        ("channels", {"executor": Channel("m", effort="high")}),
        ("channels", {"executor": Channel("m", steps=5)}),
        ("channels", {"executor": Channel("m", limit_seconds=60)}),
        ("providers", {"executor": "other"}),
        ("surface", B),
        ("selector", "pairwise"),
        ("reflector", "none"),
        ("base_tree", B),
        ("templates", {"agg": B}),
        ("extra", ("watcher",)),
        ("pool", "mixed"),
        ("adapter", {"path": "x"}),
        ("library", {"max_harnesses": "1"}),
    ],
)
def test_a_changed_part_of_the_experiment_is_named(field: str, value: Any) -> None:
    (problem,) = differences(BEFORE, evolve(BEFORE, **{field: value}))

    assert problem.startswith(field)


def test_a_changed_task_and_a_vanished_one_are_named() -> None:
    now = evolve(BEFORE, tasks={"t1": B})

    assert differences(BEFORE, now) == (
        "the task 't1' has changed (its prompt, inputs, domain, expectations or limits)",
        "the task 't2' has vanished",
    )


def test_modes_tasks_and_domains_may_be_added() -> None:
    now = evolve(
        BEFORE,
        plans={"agg": A, "seq": B},
        templates={"agg": A, "seq": B},
        recorded={"core": "0.1.0", "mode.seq": "1"},
        tasks={"t1": A, "t2": A, "u1": B},
        stream={"d": ("t1", "t2"), "e": ("u1",)},
    )

    assert differences(BEFORE, now) == ()
    assert recorded_differences(BEFORE, now) == ()


def test_an_experiment_that_goes_on_keeps_what_this_run_does_not_bring() -> None:
    now = evolve(BEFORE, plans={"seq": B}, templates={"seq": B}, tasks={"t3": B}, recorded={"core": "0.2.0"})

    after = joined(BEFORE, now)

    assert dict(after.plans) == dict(after.templates) == {"agg": A, "seq": B}
    assert set(after.tasks) == {"t1", "t2", "t3"}
    assert after.recorded == {"core": "0.2.0"}


def test_a_mode_whose_plan_changed_is_declined() -> None:
    assert differences(BEFORE, evolve(BEFORE, plans={"agg": B})) == ("the plan of mode 'agg' has changed",)


def test_versions_are_only_recorded() -> None:
    now = evolve(BEFORE, recorded={"core": "0.2.0"})

    assert differences(BEFORE, now) == ()
    assert recorded_differences(BEFORE, now) == ("core was 0.1.0, is now 0.2.0",)


def test_the_table_speaks_of_every_field_of_an_experiment() -> None:
    told = {name.strip() for row in TABLE if row.scope != "request" for name in row.where.split(",")}
    names = {field.name for field in fields(Experiment)} - {"bench", "substrate", "k", "seed", "recorded", "providers"}

    assert names <= told


def test_an_experiment_survives_its_file() -> None:
    assert load(dump(BEFORE), Experiment) == BEFORE


def test_what_has_changed_is_told_in_plain_words() -> None:
    now = evolve(BEFORE, extra=("watcher", "clock"), seed=7, surface=B)

    assert differences(BEFORE, now) == (
        "seed was not set, is now 7",
        f"surface was {'a' * 12}…, is now {'b' * 12}…",
        "extra was not set, is now watcher, clock",
    )
