"""The checks judge: programs judge, failures to judge are missing, a delivered nothing is zero."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from attrs import evolve
from harness2_local.check_report import Unreadable, verdicts_in
from harness2_local.checks_judge import ChecksJudge
from harness2_local.settings import ChecksSettings
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import Grading, InvalidValue, Verdict
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.judge_contract import JudgeContract, graded

CHECK = """
import json, os, pathlib, sys
deliverables, source = map(pathlib.Path, sys.argv[1:])
assert pathlib.Path(os.environ["HARNESS2_GRADER"], "truth.txt").read_text() == "42"
file = deliverables / "answer.txt"
right = file.is_file() and file.read_text() == pathlib.Path(__file__).with_name("truth.txt").read_text()
items = [{"name": "right", "weight": 2.50, "passed": right},
         {"name": "nothing else", "weight": 1, "passed": len(list(deliverables.iterdir())) <= 1}]
print(json.dumps({"items": items}))
"""

pytestmark = pytest.mark.process


def grading(root: Path, *checks: str, answer: str | None = "42") -> Grading:
    folders = {name: root / name for name in ("deliverables", "views", "sealed", "grader", "source")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    if answer is not None:
        (folders["deliverables"] / "answer.txt").write_text(answer)
    (folders["grader"] / "truth.txt").write_text("42")
    for number, check in enumerate(checks, 1):
        (folders["grader"] / f"check_{number}.py").write_text(check)
    return Grading("a/b", **folders)


BROKEN = {
    "prose": "print('All good!')",
    "half JSON": "print('{\"items\": [')",
    "nothing": "",
    "a crash": "raise SystemExit(3)",
    "a report and a crash": 'print(\'{"items": [{"name": "a", "weight": 1, "passed": false}]}\'); raise OSError',
    "too slow": "import time; time.sleep(60)",
    "a signal": "import os; os.kill(os.getpid(), 9)",
    "bytes": "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')",
    "no items": "print('{\"items\": []}')",
}


class TestContract(JudgeContract):
    @pytest.fixture
    def judge(self) -> ChecksJudge:
        return ChecksJudge(ChecksSettings(limit_seconds=5))

    @pytest.fixture
    def perfect(self, tmp_path: Path) -> Grading:
        return grading(tmp_path / "perfect", CHECK)

    @pytest.fixture
    def broken(self, tmp_path: Path) -> Sequence[Grading]:
        made = [grading(tmp_path / name, check) for name, check in BROKEN.items()]
        return [*made, grading(tmp_path / "without programs")]


def test_weights_are_decimal_strings(tmp_path: Path) -> None:
    verdicts = graded(ChecksJudge(), grading(tmp_path / "g", CHECK, answer="41"), FakeContext(tmp_path / "c"))
    assert verdicts == (Verdict("right", False, "", "2.5"), Verdict("nothing else", True, "", "1"))


def test_a_broken_program_leaves_the_others_verdicts_standing(tmp_path: Path) -> None:
    work = grading(tmp_path / "g", "print('hm')", CHECK)
    verdicts = graded(ChecksJudge(), work, FakeContext(tmp_path / "c"))
    assert [(v.item, v.passed) for v in verdicts] == [
        ("check_1: check_1", None),
        ("check_2: right", True),
        ("check_2: nothing else", True),
    ]


def test_an_item_of_null_is_missing_alone(tmp_path: Path) -> None:
    report = '{"items": [{"name": "a", "passed": null}, {"name": "b", "passed": true}]}'
    verdicts = graded(ChecksJudge(), grading(tmp_path / "g", f"print('''{report}''')"), FakeContext(tmp_path / "c"))
    assert [verdict.passed for verdict in verdicts] == [None, True]


@pytest.mark.parametrize("check", [CHECK, "print('hm')"])
def test_a_delivered_nothing_is_zero_even_where_a_check_would_pass_or_fail_to_judge(tmp_path: Path, check: str) -> None:
    verdicts = graded(ChecksJudge(), grading(tmp_path / "g", check, answer=None), FakeContext(tmp_path / "c"))
    assert verdicts
    assert {verdict.passed for verdict in verdicts} == {False}


def test_why_it_could_not_judge_is_told(tmp_path: Path) -> None:
    work = grading(tmp_path / "g", "raise ValueError('no truth here')")
    (verdict,) = graded(ChecksJudge(), work, FakeContext(tmp_path / "c"))
    assert verdict.why.startswith("check_1.py ended with exit code 1")
    assert "no truth here" in verdict.why


def test_nothing_more_is_run_once_it_is_no_longer_wanted(tmp_path: Path) -> None:
    context = FakeContext(tmp_path / "c")
    context.stop = True
    assert graded(ChecksJudge(), grading(tmp_path / "g", CHECK), context) == ()
    assert context.spawned == 0


def test_a_time_limit_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValue, match="limit_seconds is 0"):
        ChecksSettings(limit_seconds=0)


@pytest.mark.parametrize(
    ("report", "why"),
    [
        ("[]", "printed no report"),
        ('{"items": {}}', "printed no report"),
        ('{"items": [3]}', "item 1 is no object"),
        ('{"items": [{"name": " ", "passed": true}]}', "item 1 has no name"),
        ('{"items": [{"name": "a"}]}', "passed is None"),
        ('{"items": [{"name": "a", "passed": 1}]}', "passed is 1"),
        ('{"items": [{"name": "a", "passed": "true"}]}', "passed is 'true'"),
        ('{"items": [{"name": "a", "passed": true, "weight": true}]}', "weight is True"),
        ('{"items": [{"name": "a", "passed": true, "weight": -1}]}', "negative"),
        ('{"items": [{"name": "a", "passed": true, "weight": NaN}]}', "NaN"),
        ('{"items": [{"name": "a", "passed": true, "weight": "heavy"}]}', "no number"),
        ('{"items": [{"name": "a", "passed": true, "weight": 0}]}', "no item any weight"),
        ('{"items": [{"name": "a", "passed": true, "wieght": 2}]}', "unknown key 'wieght'"),
        ('{"items": [{"name": "a", "passed": true}, {"name": "a", "passed": false}]}', "twice"),
        ('note: fine\n{"items": [{"name": "a", "passed": true}]}', "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_report_is_taken_as_it_is_meant_or_not_at_all(report: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        verdicts_in(report.encode())


@given(st.binary())
def test_any_bytes_are_a_report_or_unreadable(printed: bytes) -> None:
    try:
        verdicts_in(printed)
    except Unreadable:
        return
    raise AssertionError("random bytes are no report")


@given(st.decimals(min_value=0, max_value=1000, places=3), st.sampled_from(["number", "text"]))
def test_a_weight_keeps_its_value(weight: Decimal, form: str) -> None:
    text = f'"{weight}"' if form == "text" else str(weight)
    report = f'{{"items": [{{"name": "a", "passed": true, "weight": {text}}}, {{"name": "b", "passed": true}}]}}'
    assert Decimal(verdicts_in(report.encode())[0].weight) == weight


def test_the_deliverables_are_judged_and_not_their_views(tmp_path: Path) -> None:
    work = grading(tmp_path / "g", CHECK)
    (work.views / "answer.txt.txt").write_text("41")
    verdicts = graded(ChecksJudge(), evolve(work), FakeContext(tmp_path / "c"))
    assert all(verdict.passed for verdict in verdicts)
