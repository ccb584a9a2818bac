"""`cache`: how much there is, what nothing refers to, what is damaged."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def abandoned(bench: Any, typed: Callable[..., Any]) -> None:
    """Two experiments, of which the second one's directory was thrown away."""
    bench.task("sums/second", "1\n# 2\n", "1")
    typed("run", "--tag", "kept", "--only-tasks", "sums/first")
    typed("run", "--tag", "gone", "--modes", "parallel,sequential")
    for directory in (bench.runs / "adapt").glob("small-po-*-gone"):
        shutil.rmtree(directory)


def _keys(bench: Any) -> dict[str, set[str]]:
    store = bench.store(tag="kept")
    return {kind: {key for key, _ in store.scan(kind)} for kind in ("blob", "rollout", "mode", "attempt", "view")}


def test_stats_count_what_is_there(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    held = {item["kind"]: item for item in typed("cache", "stats", "--json").json}
    assert (held["rollout"]["count"], held["session"]["count"], held["mode"]["count"]) == (4, 4, 1)
    assert held["blob"]["size"] > 0
    assert typed("cache", "stats").out.splitlines()[-1].startswith("all")


def test_prune_only_tells_unless_it_is_told_to_delete(bench: Any, abandoned: None, typed: Callable[..., Any]) -> None:
    before = _keys(bench)
    said = typed("cache", "prune", "--json")
    assert said.json["deleted"] is False
    assert any(item["key"].startswith("small-po-agg1-gone/") for item in said.json["records"])
    assert _keys(bench) == before


def test_pruned_is_what_nothing_refers_to_and_nothing_else(
    bench: Any, abandoned: None, typed: Callable[..., Any]
) -> None:
    shown = typed("show", "sums/first", "--ns", "small-po-agg1-kept", "--json").out
    before = _keys(bench)
    typed("cache", "prune", "--delete")
    after = _keys(bench)
    assert after["mode"] == {"small-po-agg1-kept/sums/first"}
    assert len(after["rollout"]) == 4 < len(before["rollout"])
    assert after["blob"] < before["blob"]
    assert typed("cache", "prune", "--json").json["blobs"] == []
    assert typed("cache", "verify").code == 0
    assert typed("show", "sums/first", "--ns", "small-po-agg1-kept", "--json").out == shown
    assert bench.run(tag="kept", only_tasks="sums/first").paid.nothing


def test_an_experiment_that_was_pruned_around_goes_on(bench: Any, abandoned: None, typed: Callable[..., Any]) -> None:
    typed("cache", "prune", "--delete")
    result = bench.run(tag="kept")
    assert result.exit_code == 0
    assert (result.paid.rollouts, result.paid.sessions) == (4, 4)


def test_nothing_is_pruned_while_a_sweep_runs(bench: Any, abandoned: None, typed: Callable[..., Any]) -> None:
    before = _keys(bench)
    with (bench.runs / "adapt" / "small-po-agg1-kept" / "events.jsonl").open("rb") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        said = typed("cache", "prune", "--delete")
    assert said.code == 1
    assert "small-po-agg1-kept is running" in said.err
    assert _keys(bench) == before


def test_nothing_is_pruned_for_a_directory_without_experiments(
    bench: Any, abandoned: None, typed: Callable[..., Any]
) -> None:
    said = typed("cache", "prune", "--delete", "--runs", "elsewhere")
    assert said.code == 1
    assert "holds no experiment" in said.err


def test_nothing_is_pruned_beside_an_experiment_that_cannot_be_read(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    config = next(bench.runs.glob("adapt/*/config.json"))
    config.write_bytes(config.read_bytes()[:-20])
    store = bench.runs / "store"
    before = {file for file in store.rglob("*") if file.is_file()}

    said = typed("cache", "prune", "--delete")

    assert (said.code, str(config) in said.err) == (1, True)
    assert {file for file in store.rglob("*") if file.is_file()} >= before


def test_verify_names_a_damaged_blob_and_a_damaged_record(bench: Any, typed: Callable[..., Any]) -> None:
    typed("run")
    assert typed("cache", "verify").code == 0
    blob = _flipped(bench.runs / "store" / "blobs")
    record = _flipped(bench.runs / "store" / "records" / "rollout")
    said = typed("cache", "verify", "--json")
    assert said.code == 1
    assert {item["kind"] for item in said.json["damaged"]} == {"blob", "rollout"}
    told = typed("cache", "verify").out
    assert blob.name in told
    assert record.parent.name + record.name in told.replace("/", "")


def _flipped(folder: Path) -> Path:
    """The largest file below `folder`, with one bit of its last byte changed."""
    path = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    return path
