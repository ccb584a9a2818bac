"""Readable copies are rewritten from the store when they are missing or different, and that is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def test_deleted_and_altered_readable_copies_are_rewritten_from_the_store_saying_so(bench: Any) -> None:
    bench.run()
    before = _copies(bench.runs)
    task = bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0]
    (task / "summary.json").write_text("rubbish")
    (task / "harnesses" / "inv1" / "scripts" / "solve.py").write_text("altered")
    (task / "harnesses" / "agg1" / "scripts" / "solve.py").unlink()
    (task / "harnesses" / "dom1" / "more.py").write_text("added")
    shutil.rmtree(task / "context")
    (task / "selection" / "selection.json").unlink()
    shutil.rmtree(bench.runs / "library")

    again = bench.run()

    assert again.paid.nothing
    assert _copies(bench.runs) == before
    (said,) = _rewritten(bench)
    assert said.startswith("11 readable copies")


def test_an_untouched_runs_directory_is_resumed_without_a_word(bench: Any) -> None:
    bench.run()

    bench.run()

    assert _rewritten(bench) == []


def test_a_task_killed_before_its_copies_were_written_gets_them(bench: Any) -> None:
    """As if the process had died between the record and its copies."""
    bench.run()
    before = _copies(bench.runs)
    shutil.rmtree(bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0])

    bench.run()

    assert _copies(bench.runs) == before


def _rewritten(bench: Any) -> list[str]:
    return [note for note in bench.notices if "rewritten from the store" in note]


def _copies(runs: Path) -> dict[str, bytes]:
    return {str(file.relative_to(runs)): file.read_bytes() for file in _readable(runs)}


def _readable(runs: Path) -> Iterator[Path]:
    for part in ("adapt", "library"):
        for file in (runs / part).rglob("*"):
            if file.is_file() and file.name != "events.jsonl" and file.parent.name != "_sweeps":
                yield file


def _task_directories(bench: Any) -> list[str]:
    home = bench.runs / "adapt" / "small-po-agg1"
    return [path.name for path in home.iterdir() if path.is_dir()]
