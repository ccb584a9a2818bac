"""Damaged state files: recovered from, or an error that names the file; never a traceback."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.process
@pytest.mark.parametrize("length", [0, -1])
def test_a_truncated_config_is_an_error_that_names_it(program: Any, bench: Any, length: int) -> None:
    assert program.warm() == 0, program.output
    config = bench.runs / "adapt" / "small-po-agg1" / "config.json"
    config.write_bytes(config.read_bytes()[:length])

    code, _, errors = program.run()

    assert code == 1
    assert str(config) in errors
    assert "Traceback" not in errors


@pytest.mark.process
def test_a_truncated_record_is_an_error_that_names_it(program: Any, bench: Any) -> None:
    assert program.warm() == 0, program.output
    (record,) = (file for file in (bench.runs / "store" / "records" / "mode").rglob("*") if file.is_file())
    record.write_bytes(record.read_bytes()[:-10])

    code, _, errors = program.run()

    assert code == 1
    assert "mode" in errors
    assert "Traceback" not in errors


def test_half_a_line_of_the_event_log_spoils_no_other(bench: Any) -> None:
    bench.task("sums/second")
    bench.run(only_tasks="sums/first")
    log = bench.runs / "adapt" / "small-po-agg1" / "events.jsonl"
    whole = log.read_text().splitlines()
    log.write_text("\n".join(whole)[:-20])

    bench.run()

    lines = log.read_text().splitlines()
    assert lines[: len(whole) - 1] == whole[:-1]
    assert lines[len(whole) - 1] == whole[-1][:-20]
    assert all(line.endswith("}") for line in lines[len(whole) :])


def test_a_log_that_cannot_be_written_stops_nothing(bench: Any) -> None:
    (bench.runs / "adapt" / "small-po-agg1" / "events.jsonl").mkdir(parents=True)

    result = bench.run()

    assert result.exit_code == 0
    assert any("events.jsonl" in note for note in bench.notices)
