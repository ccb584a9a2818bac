"""The domains weblogs and sensors, looked at in the records of a whole demo: what each task is there to show."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from attrs import frozen
from harness2_local.demo_config import write_config

from harness2_core.sweep.read import Reading, Row, read
from harness2_core.sweep.run import Config, judge_sweep, run_sweep

DOMAINS = {
    "weblogs": ("blog_week", "docs_mirror", "shop_move", "shop_night"),
    "sensors": ("cellar_week", "fell_autumn", "fell_spring", "mast_export"),
}
NAMES = [f"{domain}/{task}" for domain, tasks in DOMAINS.items() for task in tasks]
LOOKED_INTO = ("sensors/cellar_week", "sensors/fell_autumn", "weblogs/blog_week", "weblogs/shop_move")
"""Tasks of which every rollout is judged."""

pytestmark = [pytest.mark.process, pytest.mark.together]


@frozen
class Demo:
    reading: Reading
    rows: Mapping[tuple[str, str, str], Row]
    """By task, mode (empty for bases) and label."""

    def score(self, task: str, mode: str, label: str) -> Decimal:
        score = self.rows[task, mode, label].score
        assert score is not None
        return Decimal(score)

    def picked(self, task: str, mode: str) -> Decimal:
        (label,) = (label for (t, m, label), row in self.rows.items() if (t, m) == (task, mode) and row.picked)
        return self.score(task, mode, label)

    def transcript(self, task: str, mode: str, label: str) -> str:
        roll = self.reading.roll(self.reading.summary(task), mode, label)
        return self.reading.text(self.reading.rollout(roll.rollout).transcript.digest)

    def notes(self, task: str, mode: str, label: str) -> str:
        return self.reading.text(self.reading.stage(self.reading.summary(task), mode, label).notes)

    def changed(self, task: str, mode: str, label: str) -> set[str]:
        tree = self.reading.tree(self.reading.roll(self.reading.summary(task), mode, label).tree).files
        return {path for path, text in tree.items() if self.reading.study.base.files[path] != text}


@pytest.fixture(scope="module")
def demo(full_demo: Path) -> Demo:
    every = judge_sweep(Config.load(full_demo / "harness2.toml", {}, {"run.only_tasks": ",".join(LOOKED_INTO)}), "all")
    reading = read(Config.load(full_demo / "harness2.toml", {}))
    rows = [*reading.rows("bases"), *every.rows]
    return Demo(reading, {(row.task, row.mode, row.label): row for row in rows})


@pytest.mark.parametrize("task", NAMES)
def test_the_base_program_fails_and_its_trajectory_shows_why(demo: Demo, task: str) -> None:
    assert demo.score(task, "", "base1") < Decimal("0.7")
    assert "[OBSERVATION ERROR]" in demo.transcript(task, "", "base1")


@pytest.mark.parametrize("task", NAMES)
def test_both_modes_improve_on_base_and_sequential_gets_it_right(demo: Demo, task: str) -> None:
    base = demo.score(task, "", "base1")
    assert demo.picked(task, "agg") > base
    assert demo.picked(task, "seq") == 1
    assert demo.picked(task, "nul") == demo.picked(task, "bon") == base


@pytest.mark.parametrize(
    ("task", "script", "facts"),
    [
        ("weblogs/shop_move", "scripts/weblog.py", "domain/weblogs.toml"),
        ("sensors/cellar_week", "scripts/sensor.py", "domain/sensors.toml"),
    ],
)
def test_inv_and_dom_mend_different_things_and_only_both_are_enough(
    demo: Demo, task: str, script: str, facts: str
) -> None:
    assert demo.changed(task, "agg", "inv1") == {script}
    assert demo.changed(task, "agg", "dom1") == {facts}
    assert demo.changed(task, "agg", "agg1") == {script, facts}
    assert max(demo.score(task, "agg", "inv1"), demo.score(task, "agg", "dom1")) < 1
    assert demo.score(task, "agg", "agg1") == 1


@pytest.mark.parametrize(
    ("task", "tempting", "shown"),
    [
        ("weblogs/blog_week", "join-cut-lines", "fields, harrow writes"),
        ("sensors/fell_autumn", "a-stamp-counts-once", "comes without the one before it"),
    ],
)
def test_the_tempting_edit_shows_an_error_of_its_own_and_is_dropped(
    demo: Demo, task: str, tempting: str, shown: str
) -> None:
    assert f"remedy `{tempting}` applied" in demo.notes(task, "agg", "inv1")
    assert shown in demo.transcript(task, "agg", "inv1")
    assert f"remedy `{tempting}` dropped" in demo.notes(task, "agg", "agg1")
    assert demo.score(task, "agg", "agg1") == 1


def test_the_tempting_edit_makes_it_worse(demo: Demo) -> None:
    assert demo.score("sensors/fell_autumn", "agg", "inv1") < demo.score("sensors/fell_autumn", "", "base1")


@pytest.mark.parametrize(
    ("task", "earlier", "remedy"),
    [
        ("weblogs/shop_night", "weblogs/shop_move", "utc-from-the-library"),
        ("sensors/fell_spring", "sensors/fell_autumn", "clock-from-the-library"),
    ],
)
def test_a_lesson_makes_a_later_task_succeed_that_its_own_evidence_could_not(
    demo: Demo, tmp_path: Path, task: str, earlier: str, remedy: str
) -> None:
    for mode in ("agg", "seq"):
        assert earlier in demo.reading.summary(task).modes[mode].seen
        assert demo.picked(task, mode) == 1
    assert f"remedy `{remedy}` applied" in demo.notes(task, "agg", "inv1") + demo.notes(task, "agg", "dom1")
    config = Config.load(write_config(tmp_path, 2, ("parallel", "sequential"), ()), {}, {"run.only_tasks": task})
    assert run_sweep(config).exit_code == 0
    alone = [row for row in judge_sweep(config, "finals").rows if row.picked]
    assert [row.mode for row in alone] == ["agg", "seq"]
    assert all(row.score is not None and Decimal(row.score) < 1 for row in alone)


@pytest.mark.parametrize("task", ["weblogs/docs_mirror", "sensors/mast_export"])
def test_sequential_finds_what_only_a_second_round_can_see(demo: Demo, task: str) -> None:
    assert demo.picked(task, "agg") < demo.picked(task, "seq") == 1
    assert demo.reading.summary(task).modes["seq"].selection is not None


def test_programs_are_quick(demo: Demo) -> None:
    """Well under 0.3 seconds on a machine that has nothing else to do; ten times that here."""
    times = [
        demo.reading.rollout(row.rollout).usage.elapsed_ms for row in demo.rows.values() if row.mode in ("", "agg")
    ]
    assert sorted(times)[len(times) // 2] < 3000
