from __future__ import annotations

import pytest

from harness2_core.method.provenance import breaches
from harness2_core.model.manifest import blob_entry

KEY = blob_entry(b'{"answer": 42, "why": "the footer is no row"}')
OTHER = blob_entry(b"a file that nobody minds, of some length")


@pytest.mark.parametrize(
    "path",
    ["task.md", "source/x/key.json", "library/harnesses/t/harness/notes.md", "pool/inv1/harness/a.md", "harness/a"],
)
def test_a_graders_file_is_found_under_any_name(path: str) -> None:
    assert breaches({path: KEY, "source/a.csv": OTHER}, {KEY.digest}) == (path,)


@pytest.mark.parametrize(
    "path", ["deliverables/base1/files/a.txt", "pool/inv1/deliverables/files/a.txt", "candidates/A/a.txt"]
)
def test_a_right_answer_that_equals_the_expected_one_is_no_breach(path: str) -> None:
    assert breaches({path: KEY}, {KEY.digest}) == ()


@pytest.mark.parametrize("path", ["deliverables/base1/files/a.txt", "candidates/A/a.txt", "source/a"])
def test_a_sealed_file_is_a_breach_wherever_it_lies(path: str) -> None:
    assert breaches({path: KEY}, (), {KEY.digest}) == (path,)


def test_wording_alone_is_never_a_breach() -> None:
    text = blob_entry(b'{"pass_rate": 0.5, "passed_count": 3} the rubric of our test report')
    names = ("source/report.json", "task.md", "source/answer_key/rubric.json", "decisions/pass_rate.md", "judged.json")
    assert breaches(dict.fromkeys(names, text), {KEY.digest}, {OTHER.digest}) == ()


def test_tiny_files_are_equal_by_chance() -> None:
    zero = blob_entry(b"0\n")
    assert breaches({"source/a": zero, "source/b": blob_entry(b"")}, {zero.digest, blob_entry(b"").digest}) == ()
