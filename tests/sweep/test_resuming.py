"""The same command again: nothing finished is paid twice, wherever the directory lies and whoever else is at work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness2_core.api import ConfigError, Damaged, Happened
from harness2_core.model.serial import plain
from harness2_core.sweep.ledger import Ledger
from harness2_core.sweep.result import SweepResult
from harness2_core.sweep.run import Again
from harness2_core.sweep.stop import Stop
from harness2_core.work import attempts

SHALL_DIFFER = ("host", "elapsed_ms")


def test_a_second_run_pays_nothing_and_names_what_it_skipped(bench: Any) -> None:
    bench.task("sums/second")
    first, second = bench.run(), bench.run()
    assert (first.paid.rollouts, first.skipped) == (8, ())
    assert (second.paid.nothing, second.skipped) == (True, ("sums/first", "sums/second"))


def test_a_moved_runs_directory_goes_on_where_it_was(bench: Any) -> None:
    bench.run()
    moved = bench.root / "elsewhere" / "archive"
    moved.parent.mkdir()
    shutil.move(bench.runs, moved)
    bench.task("sums/second")
    result = bench.run(runs=moved)
    assert (result.skipped, result.paid.rollouts, result.exit_code) == (("sums/first",), 4, 0)


def test_no_record_holds_a_path_of_this_machine(bench: Any) -> None:
    bench.run()
    store = bench.store()
    kinds = ("rollout", "session", "bases", "view", "mode", "adoption", "attempt")
    records = [store.get(kind, key) for kind in kinds for key, _ in store.scan(kind)]
    blobs = [store.open_blob(digest).read() for digest, _ in store.scan("blob")]
    assert len(records) > 15
    assert not [data for data in (*records, *blobs) if str(bench.root).encode() in data]


def stopped_after(bench: Any, ends: int) -> SweepResult:
    """A run that is asked to stop once so many attempts have ended."""
    stop, seen = Stop(), []

    def listen(event: Happened) -> None:
        if event.what == "attempt-ended":
            seen.append(event)
            if len(seen) == ends:
                stop.ask(2)

    result: SweepResult = bench.run(stop=stop, listeners=[listen], slots=1)
    return result


@pytest.mark.parametrize("ends", [1, 3, 6])
def test_a_stopped_run_is_finished_by_the_same_command_without_paying_twice(bench: Any, ends: int) -> None:
    bench.task("sums/second")
    stopped = stopped_after(bench, ends)
    rest = bench.run()
    assert (stopped.exit_code, stopped.interrupted) == (130, True)
    assert (rest.exit_code, rest.left) == (0, ())
    assert stopped.paid.rollouts + rest.paid.rollouts == 8
    assert stopped.paid.sessions + rest.paid.sessions == 8
    assert attempts_a_request(bench) == {1}


def test_a_run_that_was_stopped_ends_with_the_records_of_one_that_was_not(bench: Any, tmp_path: Path) -> None:
    bench.task("sums/second")
    stopped_after(bench, 4)
    bench.run()
    undisturbed = tmp_path / "undisturbed"
    bench.run(runs=undisturbed)
    for task in ("sums/first", "sums/second"):
        assert told(bench.summary(task)) == told(bench.summary(task, runs=undisturbed))
        for one, other in zip(rolled(bench, task), rolled(bench, task, runs=undisturbed), strict=True):
            assert told(one) == told(other)


def test_what_an_experiment_has_cost_does_not_shrink_when_it_is_resumed(bench: Any) -> None:
    bench.improver(
        "dear",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                said = super().run(request, workspace, ctx)
                return Said(said.outcome, said.text, Usage("0.3", source="stream"))
        """,
    )
    first = bench.run()
    after_first = spent(bench)
    second = bench.run()
    assert first.paid.usage["improver"].usd == "0.9"
    assert (second.paid.nothing, spent(bench)) == (True, after_first)
    assert str(after_first) == "1.2"


def test_two_runs_at_once_on_one_directory_share_the_work(bench: Any) -> None:
    bench.task("sums/second")
    results = at_once(bench.run, bench.run)
    assert [result.exit_code for result in results] == [0, 0]
    assert sum(result.paid.rollouts for result in results) == 8
    assert attempts_a_request(bench) == {1}
    index = next(bench.runs.rglob("INDEX.md")).read_text()
    assert index.count("## sums/") == 2


def test_two_runs_at_once_on_different_modes_share_the_bases(bench: Any) -> None:
    results = at_once(lambda: bench.run(modes="parallel"), lambda: bench.run(modes="sequential"))
    bases = [r for r in bench.requests() if r["kind_of_request"] == "rollout" and r["draw"].endswith("base1")]
    assert [result.exit_code for result in results] == [0, 0]
    assert len(bases) == 1
    assert set(bench.summary(modes="parallel,sequential").modes) == {"agg", "seq"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"roles.improver.model": "m-2"}, "channels"),
        ({"roles.improver.effort": "high"}, "channels"),
        ({"roles.executor.steps": "9"}, "channels"),
        ({"selector": "first"}, "selector"),
        ({"pool": "mixed"}, "pool"),
        ({"library.max_harnesses": "3"}, "library"),
    ],
)
def test_a_changed_experiment_is_declined_by_the_name_of_what_changed(
    bench: Any, change: dict[str, str], field: str
) -> None:
    bench.run()
    with pytest.raises(ConfigError) as caught:
        bench.run(**change)
    assert re.search(rf"{field}\S* was", caught.value.what)
    assert "--new-tag second" in str(caught.value)


def test_under_another_tag_the_changed_experiment_stands_beside_the_first(bench: Any) -> None:
    bench.run()
    result = bench.run(tag="second", **{"roles.improver.effort": "high"})
    assert (result.namespace, result.paid.rollouts) == ("small-po-agg1-second", 4)


def test_a_changed_task_is_refused_by_name(bench: Any) -> None:
    bench.run()
    bench.write("sums/first/inputs/numbers.txt", "8\n")
    with pytest.raises(ConfigError, match="the task 'sums/first' has changed"):
        bench.run()


def test_more_tasks_and_modes_may_come_later(bench: Any) -> None:
    for task in ("sums/second", "sums/third"):
        bench.task(task)
    bench.run(max_tasks=1)
    result = bench.run(max_tasks=2, modes="parallel,sequential")
    assert (result.exit_code, result.paid.rollouts) == (0, 3 + 7)


def test_a_damaged_summary_is_written_again_and_said(bench: Any) -> None:
    bench.run()
    path = next(bench.runs.glob("adapt/*/*/summary.json"))
    whole = path.read_bytes()
    for data in (b"", whole[: len(whole) // 2], b"\xff" + whole[1:]):
        path.write_bytes(data)
        bench.notices.clear()
        assert bench.run().paid.nothing
        assert path.read_bytes() == whole
        assert any("rewritten from the store" in notice for notice in bench.notices)


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:40], lambda data: b"[]", lambda data: b"\xff" + data]
)
def test_a_damaged_configuration_of_an_experiment_is_named_and_not_guessed(
    bench: Any, damage: Callable[[bytes], bytes]
) -> None:
    bench.run()
    path = next(bench.runs.glob("adapt/*/config.json"))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(Damaged, match=r"config\.json"):
        bench.run()


def test_without_the_cache_an_open_task_is_drawn_anew(bench: Any) -> None:
    bench.task("sums/second")
    stopped_after(bench, 3)
    served = {request["draw"] for request in bench.requests()}
    bench.run(again=Again(no_cache=True))
    draws = {request["draw"] for request in bench.requests()} - served
    assert draws
    assert not any(draw.startswith("small-po-agg1/sums/first/") and not draw.endswith(".a2") for draw in draws)


def test_a_retry_of_what_is_no_task_names_the_near_ones(bench: Any) -> None:
    bench.run()
    with pytest.raises(ConfigError, match="sums/first"):
        bench.run(again=Again(retry=("sums/frist",)))


def at_once(*runs: Callable[[], SweepResult]) -> list[SweepResult]:
    with ThreadPoolExecutor(len(runs)) as pool:
        return [future.result(120) for future in [pool.submit(run) for run in runs]]


def attempts_a_request(bench: Any) -> set[int]:
    store = bench.store()
    keys = {key.partition("/")[0] for key, _ in store.scan(attempts.KIND)}
    return {len(attempts.attempts_of(store, key)) for key in keys}


def spent(bench: Any) -> object:
    study = bench.reading().study
    return Ledger(study.archive, {str(study.home)}).spent().usd


def rolled(bench: Any, task: str, **options: object) -> list[object]:
    reading, summary = bench.reading(**options), bench.summary(task, **options)
    rolls = (*summary.bases, *(roll for record in summary.modes.values() for roll in record.rolls))
    return [reading.rollout(roll.rollout) for roll in rolls]


def told(record: object) -> object:
    """A record without what two equal runs do not share."""

    def without(value: object) -> object:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k not in SHALL_DIFFER and not k.endswith("_at")}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(plain(record))
