"""Two processes at once on one runs directory neither corrupt nor repeat work."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import pytest

from harness2_core.testing.comparing import paid_more_than_once
from harness2_core.testing.crashing import crash_at, paid_again
from harness2_core.work.attempts import attempts_of

pytestmark = pytest.mark.process

SLOWLY = """\
import os
import time
from pathlib import Path

time.sleep(0.4)  # long enough for two processes to want the same
output = Path(os.environ["HARNESS2_OUTPUT"])
output.mkdir(parents=True, exist_ok=True)
(output / "sum.txt").write_text("7\\n", encoding="utf-8")
"""


@pytest.fixture
def slowly(program: Any, bench: Any) -> Any:
    bench.write("base/scripts/solve.py", SLOWLY)
    bench.task("sums/second")
    bench.options |= {"run.substrate": "python", "run.engine": "threads"}
    return program


def test_on_the_same_modes_no_request_is_begun_twice(slowly: Any, bench: Any) -> None:
    first, second = slowly.start(), slowly.start()

    assert ended(first) == ended(second) == 0
    assert begun_once(bench)
    assert paid_again(slowly.orders) == ()


def test_on_the_same_modes_they_leave_the_records_of_one_alone(slowly: Any, bench: Any) -> None:
    first, second = slowly.start(), slowly.start()
    ended(first), ended(second)
    alone = bench.root / "alone"

    assert slowly.warm(runs=alone) == 0, slowly.output
    assert slowly.records() == slowly.records(alone)


def test_on_different_modes_the_bases_are_shared_and_begun_once(slowly: Any, bench: Any) -> None:
    first, second = slowly.start(modes="parallel"), slowly.start(modes="sequential")

    assert ended(first) == ended(second) == 0
    both = {"modes": "parallel,sequential"}
    assert begun_once(bench, **both)
    assert set(bench.summary(**both).modes) == {"agg", "seq"}
    bases = [request for request in bench.requests(**both) if request["draw"].endswith("/base1")]
    assert len(bases) == 2  # of two tasks


def test_with_other_tasks_each_both_are_in_the_experiment_afterwards(slowly: Any, bench: Any) -> None:
    (bench.folder / "bench.toml").write_text(SPLITS)
    first, second = slowly.start(split="train"), slowly.start(split="test")

    assert ended(first) == ended(second) == 0
    assert set(bench.reading().study.experiment.tasks) == {"sums/first", "sums/second"}


def test_what_a_killed_process_had_claimed_is_taken_over_by_the_other(slowly: Any, bench: Any) -> None:
    first = slowly.start()
    log = bench.runs / "adapt" / "small-py-agg1" / "events.jsonl"
    until(lambda: log.exists() and "attempt-started" in log.read_text())
    second = slowly.start()
    until(lambda: "attempt-elsewhere" in log.read_text() or first.poll() is not None)  # it waits for the first
    first.kill()
    first.communicate()

    assert ended(second) == 0
    assert paid_more_than_once(bench.store()) == ()


def test_two_resumes_after_a_kill_share_what_is_left(slowly: Any, bench: Any) -> None:
    crash_at(slowly.orders, 90)
    assert slowly.warm() == -9
    crash_at(slowly.orders, None)

    first, second = slowly.start(), slowly.start()

    assert ended(first) == ended(second) == 0
    assert paid_again(slowly.orders) == ()


SPLITS = """\
[splits]
train = ["sums/first"]
test = ["sums/second"]
"""


def ended(process: subprocess.Popen[str]) -> int:
    _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    return process.returncode


def begun_once(bench: Any, **options: object) -> bool:
    store = bench.store(**options)
    digests = {key.partition("/")[0] for key, _ in store.scan("attempt")}
    return all(len(attempts_of(store, digest)) == 1 for digest in digests)


def until(holds: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
