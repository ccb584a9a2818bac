"""What earlier tasks of a stream adopted is seen by later ones, kept by every run, and hidden by a person only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness2_core.model.names import unescape
from harness2_core.sweep import shelves


@pytest.fixture
def stream(bench: Any) -> Any:
    """Three tasks in one domain, worked in order of their names: first, second, third."""
    bench.task("sums/second")
    bench.task("sums/third")
    return bench


def test_a_session_sees_what_earlier_tasks_had_adopted_and_never_a_later_one(stream: Any) -> None:
    stream.run()
    assert stream.mode("sums/first").seen == ()
    assert stream.mode("sums/second").seen == ("sums/first",)
    assert stream.mode("sums/third").seen == ("sums/first", "sums/second")


def test_every_session_reads_the_view_that_the_record_names_and_it_holds_what_is_told_as_seen(stream: Any) -> None:
    stream.run()
    archive = stream.reading().study.archive
    for task in ("sums/first", "sums/second", "sums/third"):
        done = stream.mode(task)
        view = archive.flat(archive.manifest(done.view))
        assert {unescape(path.split("/")[1]) for path in view if path.startswith("harnesses/")} == set(done.seen)
        requests = [json.loads(archive.text(digest))["session"] for s in done.stages for digest in s.sessions]
        for evidence in (archive.flat(archive.manifest(request["evidence"])) for request in requests):
            read = {path.removeprefix("library/"): e for path, e in evidence.items() if path.startswith("library/")}
            assert read == view


def test_a_run_of_a_part_deletes_no_entry_of_the_rest(stream: Any) -> None:
    stream.run()
    entries = [adoption.task for adoption in stream.reading().adoptions("agg", "sums")]
    stream.run(only_tasks="sums/first")
    assert [adoption.task for adoption in stream.reading().adoptions("agg", "sums")] == entries
    assert entries == ["sums/first", "sums/second", "sums/third"]
    assert len(list(stream.runs.glob("library/small/k1-po/agg/sums/harnesses/*/EXPERIENCE.md"))) == 3


def test_an_entry_that_comes_late_takes_its_place_and_reopens_nothing(stream: Any) -> None:
    stream.run(only_tasks="sums/second")
    before = stream.mode("sums/second")
    result = stream.run()
    assert result.skipped == ("sums/second",)
    assert stream.mode("sums/second") == before
    assert before.seen == stream.mode("sums/first").seen == ()
    assert stream.mode("sums/third").seen == ("sums/first", "sums/second")
    assert stream.reading().adoptions("agg", "sums")[0].task == "sums/first"


def test_max_tasks_counts_within_each_domain(stream: Any) -> None:
    stream.task("others/one")
    stream.task("others/two")
    assert set(stream.run(max_tasks=1).statuses) == {"others/one", "sums/first"}


def test_an_adopted_harness_without_a_lesson_is_in_the_library_with_what_its_edits_did(stream: Any) -> None:
    playbook = stream.folder / "playbook.toml"
    playbook.write_text("".join(line for line in playbook.open() if not line.startswith("lesson")))
    stream.run(only_tasks="sums/first")
    (entry,) = stream.reading().adoptions("agg", "sums")
    text = next(stream.runs.glob("library/small/k1-po/agg/sums/harnesses/*/EXPERIENCE.md")).read_text()
    assert (entry.lesson, [edit.component for edit in entry.edits]) == (None, ["scripts/solve.py"] * 2)
    assert "(no lesson was drawn from it)" in text
    assert "What each edit did" in text


def test_a_person_can_have_a_lesson_forgotten_that_proved_harmful(stream: Any) -> None:
    stream.run(only_tasks="sums/first")
    study = stream.reading().study
    shelves.forget(study, shelves.entry_of(study, "sums/first", ""))
    stream.run()
    assert stream.mode("sums/second").seen == ()
    assert stream.mode("sums/third").seen == ("sums/second",)
    assert stream.mode("sums/first").adopted  # the record of the task is what it was


def test_only_the_newest_entries_are_whole_and_all_are_named(stream: Any) -> None:
    stream.set(**{"library.max_harnesses": 1})
    stream.run()
    reading = stream.reading()
    seen = reading.sessions_seen(stream.mode("sums/third").stages[0])[0][2]
    library = sorted(path for path in seen if path.startswith("library/"))
    assert "library/INDEX.md" in library
    assert not [path for path in library if "sums%2Ffirst" in path]
    assert [path for path in library if path.endswith("sums%2Fsecond/EXPERIENCE.md")]


def test_what_many_sessions_read_is_kept_once(stream: Any) -> None:
    stream.write("sums/first/inputs/plan.txt", "a drawing\n" * 100_000)
    stream.run(only_tasks="sums/first")
    reading = stream.reading()
    read = [seen[2]["source/inputs/plan.txt"] for s in stream.mode().stages for seen in reading.sessions_seen(s)]
    kept = sum(size for _, size in stream.store().scan("blob"))
    assert read == [1_000_000] * 3
    assert kept < 1_200_000
