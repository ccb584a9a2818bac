"""The small bench that the other tests of this folder stand on does what it says."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_task_of_the_small_bench_is_improved_and_leaves_a_lesson(bench: Any) -> None:
    result = bench.run()
    done = bench.mode()
    changes = bench.reading().changes(done.adopted, "adopted")
    assert (result.exit_code, dict(result.statuses)) == (0, {"sums/first": "ok"})
    assert (result.paid.rollouts, result.paid.sessions) == (4, 4)
    assert "+        if line.startswith('#'):" in changes
    assert "+            total += int(line.replace(' ', ''))" in changes
    assert done.reflection.lesson.cue == "notes between the numbers"


@pytest.mark.process
def test_the_small_bench_runs_as_a_real_program_too(bench: Any) -> None:
    assert bench.run(substrate="python").exit_code == 0
    assert bench.mode(substrate="python").adopted == bench.mode(substrate="python").rolls[-1].tree
