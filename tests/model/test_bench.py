from __future__ import annotations

import pytest
from attrs import fields

from harness2_core.model.bench import BenchSpec, BenchWords, Collected, Task, TaskCard
from harness2_core.model.errors import InvalidValue

WORDS = BenchWords(work="Monthly statements are turned into tables.")


@pytest.mark.parametrize(
    "word",
    [
        *(
            "benchmark",
            "Benchmarks",
            "EVALUATION",
            "evaluated",
            "evaluator",
            "grader",
            "grading",
            "rubric",
            "score",
            "Scored",
        ),
        *("score_1", "the_score", "score2", "score.", "(scoring)"),
    ],
)
@pytest.mark.parametrize("name", [part.name for part in fields(BenchWords) if part.name != "selection_conformance"])
def test_no_word_that_an_improver_sees_tells_of_an_assessment(name: str, word: str) -> None:
    with pytest.raises(InvalidValue, match=rf"BenchWords\.{name} uses the word"):
        BenchWords(**{"work": "Tables.", name: f"do this {word} now"})


@pytest.mark.parametrize(
    "text",
    ["underscore", "scorecards", "a high-grade alloy", "revaluation", "value", "grade", "Scoresby", "prébenchmark"],
)
def test_words_that_only_contain_such_a_word_are_taken(text: str) -> None:
    assert BenchWords(work=text).work == text


@pytest.mark.parametrize("work", ["", "  \n"])
def test_the_work_must_be_said(work: str) -> None:
    with pytest.raises(InvalidValue, match="blank"):
        BenchWords(work=work)


def test_a_misspelt_conformance_is_an_error_and_no_third_prompt() -> None:
    with pytest.raises(InvalidValue, match="'full', 'value_only'"):
        BenchWords(work="x", selection_conformance="value-only")


@pytest.mark.parametrize("network", ["none", "model", "open", "hosts:a.example", "hosts:a.example:443,b.example"])
def test_a_bench_names_the_network_that_its_tasks_promise(network: str) -> None:
    assert BenchSpec("demo", WORDS, network=network).network == network


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"network": "internet"}, "network is 'internet'"),
        ({"network": "hosts:"}, "network"),
        ({"network": "hosts:a b"}, "network"),
        ({"name": "Demo"}, r"BenchSpec\.name"),
        ({"name": "a-b"}, r"BenchSpec\.name"),
        ({"batch": 0}, r"BenchSpec\.batch"),
        ({"deliverables": "all"}, r"BenchSpec\.deliverables"),
        ({"observation_chars": 9_999}, r"BenchSpec\.observation_chars"),
        ({"reserved_scripts": ("tools/read_doc.py",)}, "bare names"),
        ({"reserved_scripts": ("read_doc.sh",)}, "bare names"),
    ],
)
def test_each_fact_of_a_bench_is_checked(arguments: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        BenchSpec(**{"name": "demo", "words": WORDS, **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "domain"), [("", "d"), (" ", "d"), ("t", ""), ("t\n", "d"), ("t", "d\x1b[31m"), ("t\u202e", "d")]
)
def test_a_task_has_an_id_and_a_domain_that_can_be_shown(task: str, domain: str) -> None:
    with pytest.raises(InvalidValue, match="in domain"):
        Task(task, domain, "do it")


@pytest.mark.parametrize("task", ["law/7", "..", "a b", "Überblick 検査", "con"])
def test_a_task_may_be_named_as_its_authors_like(task: str) -> None:
    assert Task(task, "law", "do it").id == task


def test_every_part_of_a_task_counts_in_its_digest() -> None:
    card = TaskCard("demo", "t1", "law", "0" * 64)
    others = [
        TaskCard("other", "t1", "law", "0" * 64),
        TaskCard("demo", "t2", "law", "0" * 64),
        TaskCard("demo", "t1", "tax", "0" * 64),
        TaskCard("demo", "t1", "law", "1" * 64),
        TaskCard("demo", "t1", "law", "0" * 64, ("a.csv",)),
        TaskCard("demo", "t1", "law", "0" * 64, (), 60),
    ]
    assert len({card.digest, *(other.digest for other in others)}) == 7


def test_what_was_collected_needs_no_files() -> None:
    assert dict(Collected(delivered=False).deliverables) == {}
