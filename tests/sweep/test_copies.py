"""Readable copies are rewritten from the store when they are missing or different, and that is said."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness2_core.sweep import readable, shelves


def altered(task: Path) -> None:
    (task / "harnesses" / "inv1" / "scripts" / "solve.py").write_text("altered")


def shortened(task: Path) -> None:
    selection = task / "selection" / "selection.json"
    selection.write_bytes(selection.read_bytes()[:-20])


def one_file_deleted(task: Path) -> None:
    (task / "harnesses" / "agg1" / "scripts" / "solve.py").unlink()


def one_file_added(task: Path) -> None:
    (task / "harnesses" / "dom1" / "more.py").write_text("added")


def contexts_deleted(task: Path) -> None:
    shutil.rmtree(task / "context")


def summary_replaced(task: Path) -> None:
    (task / "summary.json").write_text("rubbish")


def one_word_of_the_summary_altered(task: Path) -> None:
    summary = task / "summary.json"
    summary.write_text(summary.read_text().replace('"ok": true', '"ok": false', 1))


def one_word_of_the_lesson_altered(task: Path) -> None:
    reflection = task / "reflection" / "reflection.json"
    times = reflection.stat()
    told = json.loads(reflection.read_text())
    reflection.write_text(json.dumps(told | {"reflector": "another"}))
    os.utime(reflection, ns=(times.st_atime_ns, times.st_mtime_ns))


def summary_made_endless(task: Path) -> None:
    (task / "summary.json").write_text("[" * 100_000)


def library_deleted(task: Path) -> None:
    shutil.rmtree(task.parents[2] / "library")


def lesson_altered(task: Path) -> None:
    (task / "reflection" / "reflection.json").write_text("altered")


def library_index_altered(task: Path) -> None:
    (_library(task) / "INDEX.md").write_text("altered")


def library_experience_altered(task: Path) -> None:
    next(_library(task).rglob("EXPERIENCE.md")).write_text("altered")


def library_harness_altered(task: Path) -> None:
    next(_library(task).rglob("solve.py")).write_text("altered")


def library_harness_deleted(task: Path) -> None:
    next(_library(task).rglob("solve.py")).unlink()


def library_file_added(task: Path) -> None:
    (next(_library(task).rglob("solve.py")).parent / "more.py").write_text("added")


@pytest.mark.parametrize(
    ("damage", "files"),
    [
        (altered, 1),
        (shortened, 1),
        (one_file_deleted, 1),
        (one_file_added, 1),
        (contexts_deleted, 3),
        (summary_replaced, 1),
        (one_word_of_the_summary_altered, 1),
        (one_word_of_the_lesson_altered, 1),
        (summary_made_endless, 1),
        (library_deleted, 3),
        (lesson_altered, 1),
        (library_index_altered, 1),
        (library_experience_altered, 1),
        (library_harness_altered, 1),
        (library_harness_deleted, 1),
        (library_file_added, 1),
    ],
)
def test_a_copy_that_is_missing_or_different_is_rewritten_from_the_store_and_that_is_said(
    bench: Any, damage: Callable[[Path], None], files: int
) -> None:
    bench.run()
    before = _copies(bench.runs)
    damage(bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0])
    assert _copies(bench.runs) != before

    again = bench.run()

    assert again.paid.nothing
    assert _copies(bench.runs) == before
    assert [note.split()[0] for note in _rewritten(bench)] == [str(files)]


def test_an_untouched_runs_directory_is_resumed_without_a_word(bench: Any) -> None:
    bench.run()

    bench.run()

    assert _rewritten(bench) == []


def test_a_summary_that_is_set_otherwise_and_says_the_same_is_left_alone(bench: Any) -> None:
    bench.run()
    summary = bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0] / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text())))

    bench.run()

    assert (_rewritten(bench), summary.read_text().count("\n")) == ([], 0)


def test_a_task_killed_before_its_copies_were_written_gets_them(bench: Any) -> None:
    """As if the process had died between the record and its copies."""
    bench.run()
    before = _copies(bench.runs)
    shutil.rmtree(bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0])

    bench.run()

    assert _copies(bench.runs) == before


def test_a_copied_runs_directory_is_resumed_without_a_word_whatever_the_times_of_its_files(bench: Any) -> None:
    bench.run()
    copied = bench.root / "copied"
    shutil.copytree(bench.runs, copied, copy_function=shutil.copyfile)
    for number, file in enumerate(sorted(_readable(copied), reverse=True)):
        os.utime(file, (number, number))

    assert bench.run(runs=copied).paid.nothing
    assert _rewritten(bench) == []


def test_half_written_copies_of_a_killed_run_are_removed_with_the_next_that_writes_there(bench: Any) -> None:
    bench.run()
    before = _copies(bench.runs)
    library = next((bench.runs / "library").rglob("INDEX.md")).parent
    task = bench.runs / "adapt" / "small-po-agg1" / _task_directories(bench)[0]
    parts = [task / part for part in ("context", "selection", "reflection", "harnesses/inv1/scripts")]
    for folder in (library, next(library.glob("harnesses/*")), *parts):
        (folder / ".half.json.0123456789ab.tmp").write_text("{")

    bench.run()

    assert _copies(bench.runs) == before


def test_store_and_config_are_all_that_must_survive(bench: Any) -> None:
    bench.run()
    before = _copies(bench.runs)
    kept = bench.root / "kept"
    (kept / "adapt" / "small-po-agg1").mkdir(parents=True)
    shutil.copytree(bench.runs / "store", kept / "store")
    shutil.copy(bench.runs / "adapt" / "small-po-agg1" / "config.json", kept / "adapt" / "small-po-agg1")

    again = bench.run(runs=kept)

    assert (again.paid.nothing, again.skipped) == (True, ("sums/first",))
    assert _copies(kept) == before


def test_forgetting_that_was_killed_before_the_copies_went_is_finished_by_the_next_run(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.run()
    study = bench.reading().study
    entry = shelves.entry_of(study, "sums/first", "agg")
    with monkeypatch.context() as patched:
        patched.setattr(readable, "remove_entry", _killed)
        with pytest.raises(KeyboardInterrupt):
            shelves.forget(study, entry)

    bench.run()

    index = next((bench.runs / "library").rglob("INDEX.md"))
    assert "sums/first" not in index.read_text()
    assert list(index.parent.glob("harnesses/*")) == []


def _library(task: Path) -> Path:
    return next((task.parents[2] / "library").rglob("INDEX.md")).parent


def _killed(*_: object) -> bool:
    raise KeyboardInterrupt


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
