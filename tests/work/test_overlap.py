"""The audit of text overlap: what it flags, and what it leaves in peace."""

from __future__ import annotations

from harness2_core.work.overlap import FLAGS, WORDS, overlaps

RUBRIC = "The report must name all nine counties and give the median rent of each to the cent."
OTHER = "Read the file, add up its lines by county, and say how many there were in all of them together."


def test_a_run_of_the_graders_words_is_flagged_whatever_its_case_and_breaks() -> None:
    seen = RUBRIC.upper().replace(" ", "\n")

    (flag,) = overlaps([RUBRIC], [OTHER], {"the transcript": f"fetched: {seen}"})

    assert flag.startswith("the transcript holds words of the grader's files: 'the report must name all nine")


def test_words_that_the_task_holds_are_nobodys_secret() -> None:
    assert overlaps([RUBRIC], [f"{OTHER} {RUBRIC}"], {"the transcript": RUBRIC}) == ()


def test_a_few_words_in_common_are_chance() -> None:
    few = " ".join(RUBRIC.split()[: WORDS - 1])

    assert overlaps([RUBRIC], [OTHER], {"the transcript": f"{few} something else entirely"}) == ()


def test_a_harness_that_holds_them_is_named_by_its_file() -> None:
    (flag,) = overlaps([RUBRIC], [], {"the transcript": OTHER, "the harness's NOTES.md": RUBRIC})

    assert flag.startswith("the harness's NOTES.md")


def test_there_are_no_more_flags_than_people_read() -> None:
    assert len(overlaps([RUBRIC], [], {f"file {n}": RUBRIC for n in range(20)})) == FLAGS
