"""What becomes of finals that are alike, blank, or a state instead of files."""

from __future__ import annotations

from typing import Any

import pytest


def test_equal_trees_are_rolled_all_the_same_each_as_a_draw_of_its_own(bench: Any) -> None:
    bench.set(k=2, modes="null")
    result = bench.run()
    done = bench.mode(mode="nul")
    assert result.paid.rollouts == 8
    assert {roll.tree for roll in done.rolls} == {bench.reading().study.base_digest}
    assert len({roll.rollout for roll in done.rolls}) == 6


def test_finals_that_delivered_the_same_save_the_selector(bench: Any) -> None:
    bench.set(k=2)
    bench.run()
    picked = bench.mode().selection
    assert (picked.trivial, picked.sessions, picked.fallback, picked.ok) == (True, (), False, True)
    assert dict(picked.same) == {"agg2": "agg1"}
    assert [request["role"] for request in bench.requests() if request.get("role") == "selector"] == []


SHORTEST = """
    from harness2_core.api import Choice

    class Made:
        def select(self, ballot):
            return Choice(min(ballot.ids, key=lambda id: len(ballot.candidates[id]["sum.txt.txt"])), "shortest")
            yield ()
"""


def test_in_a_mixed_pool_a_base_may_be_picked_and_is_recorded_and_not_adopted(bench: Any) -> None:
    bench.plugin("selector", "shortest", SHORTEST)
    bench.set(pool="mixed", selector="shortest")
    result = bench.run()
    done = bench.mode()
    assert set(done.selection.ids.values()) == {"base1", "agg1"}
    assert (done.selection.chosen, done.selection.base_pick, done.ok, result.exit_code) == ("base1", True, True, 0)
    assert (done.adopted, done.reflection.sessions, bench.reading().adoptions("agg", "sums")) == ("", (), ())


def test_without_a_single_delivery_the_mode_is_not_ok_and_adopts_nothing(bench: Any) -> None:
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('error: nothing done')\n")
    result = bench.run()
    done = bench.mode()
    assert (result.exit_code, done.ok, done.adopted, done.selection.chosen) == (2, False, "", "")
    assert dict(done.selection.dropped) == {"agg1": "it did not deliver what the task asks for"}


STATE = """
    from attrs import evolve
    from harness2_local.tasks import TaskFolders

    class Made(TaskFolders):
        @property
        def spec(self):
            return evolve(super().spec, state_deliverable=True)
"""


@pytest.fixture
def state(bench: Any) -> Any:
    """A bench whose product may be the state of the environment; its program leaves no file."""
    bench.plugin("adapter", "state", STATE, settings="harness2_local.settings:TasksSettings")
    bench.set(bench="state", **{"adapters.state.path": bench.folder, "adapters.state.name": "small"})
    bench.write("base/scripts/solve.py", "def solve(inputs, output, say):\n    say('moved the box')\n")
    bench.write("sums/first/task.toml", "")
    return bench


def test_a_state_that_no_file_shows_is_a_product_and_the_task_is_ok(state: Any) -> None:
    result = state.run()
    done = state.mode()
    assert (result.exit_code, dict(result.statuses)) == (0, {"sums/first": "ok"})
    assert (done.ok, done.selection.chosen, done.error) == (True, "agg1", "")
    assert state.summary().errors == ()


def test_a_resume_leaves_a_task_whose_product_is_a_state_alone(state: Any) -> None:
    state.run()
    assert state.run().paid.nothing
