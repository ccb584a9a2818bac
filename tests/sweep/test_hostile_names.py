"""Names that come from a benchmark are text: they lead nowhere on the disk."""

from __future__ import annotations

from typing import Any

NAMED = """
    from attrs import evolve
    from harness2_local.tasks import TaskFolders

    NAMES = {"../../escaped": "sums/first", "a/b": "sums/second", "a__b": "sums/third"}

    class Made(TaskFolders):
        def tasks(self, split):
            return tuple(sorted(NAMES))

        def task(self, id):
            return evolve(super().task(NAMES[id]), id=id, domain="..")

        def grader_side(self, id):
            return super().grader_side(NAMES.get(id, id))
"""


def test_a_domain_of_two_dots_and_odd_task_ids_stay_inside_the_runs_directory(bench: Any) -> None:
    bench.plugin("adapter", "named", NAMED, settings="harness2_local.settings:TasksSettings")
    bench.task("sums/second")
    bench.task("sums/third")
    playbook = {"proposers.scripted.playbooks.a": bench.folder / "playbook.toml"}
    bench.set(bench="named", **{"adapters.named.path": bench.folder, "adapters.named.name": "small"}, **playbook)
    before = {path for path in bench.root.rglob("*") if not path.is_relative_to(bench.runs)}
    assert bench.run().exit_code == 0
    after = {path for path in bench.root.rglob("*") if not path.is_relative_to(bench.runs)}
    summaries = sorted(path.parent.name for path in bench.runs.glob("adapt/small-po-agg1/*/summary.json"))
    library = [path.name for path in (bench.runs / "library/small/k1-po/agg").iterdir()]
    assert {path for path in after - before if "__pycache__" not in path.parts} == set()
    assert summaries == ["%2E.%2F..%2Fescaped", "a%2Fb", "a__b"]
    assert library == ["%2E%2E"]
