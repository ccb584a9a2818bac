"""The contract of judges. Subclass it in your tests and give `judge`, a `perfect` grading, and `broken` ones."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import Context, Grading, Judge, Verdict

from .fake_context import FakeContext


class JudgeContract:
    @pytest.fixture
    def judge(self) -> Judge:
        raise NotImplementedError("give the judge under test")

    @pytest.fixture
    def perfect(self, tmp_path: Path) -> Grading:
        raise NotImplementedError("give a grading in which all that was asked for was delivered")

    @pytest.fixture
    def broken(self, tmp_path: Path) -> Sequence[Grading]:
        """Gradings in which something was delivered that the judge fails to judge."""
        return ()

    @pytest.fixture
    def ctx(self, tmp_path: Path) -> Context:
        return FakeContext(tmp_path / "context")

    def test_it_is_a_judge(self, judge: Judge) -> None:
        assert isinstance(judge, Judge)

    def test_its_items_are_the_same_each_time(self, judge: Judge, perfect: Grading) -> None:
        items = judge.items(perfect.task, perfect.grader)
        assert items == judge.items(perfect.task, perfect.grader)
        assert items is None or len({item.name for item in items}) == len(items) > 0

    def test_what_is_all_there_passes(self, judge: Judge, perfect: Grading, ctx: Context) -> None:
        verdicts = graded(judge, perfect, ctx)
        assert verdicts
        assert all(verdict.passed is True for verdict in verdicts), verdicts

    def test_verdicts_are_about_its_items_each_once(self, judge: Judge, perfect: Grading, ctx: Context) -> None:
        verdicts = graded(judge, perfect, ctx)
        names = [verdict.item for verdict in verdicts]
        assert len(set(names)) == len(names)
        items = judge.items(perfect.task, perfect.grader)
        assert items is None or set(names) == {item.name for item in items}
        assert sum(Decimal(verdict.weight) for verdict in verdicts) > 0

    def test_a_delivered_nothing_passes_nothing(
        self, judge: Judge, perfect: Grading, ctx: Context, tmp_path: Path
    ) -> None:
        nothing = evolve(perfect, deliverables=_empty(tmp_path / "no files"), views=_empty(tmp_path / "no views"))
        verdicts = graded(judge, nothing, ctx)
        assert verdicts
        assert all(verdict.passed is False for verdict in verdicts), verdicts

    def test_a_failure_to_judge_is_missing_and_never_zero(
        self, judge: Judge, broken: Sequence[Grading], ctx: Context
    ) -> None:
        if not broken:
            pytest.skip("no broken grading given")
        for grading in broken:
            verdicts = graded(judge, grading, ctx)
            assert any(verdict.passed is None for verdict in verdicts), verdicts
            assert not any(verdict.passed is False for verdict in verdicts), verdicts
            assert all(verdict.why for verdict in verdicts if verdict.passed is None)

    def test_judging_changes_nothing(self, judge: Judge, perfect: Grading, ctx: Context) -> None:
        folders = (perfect.deliverables, perfect.views, perfect.sealed, perfect.grader, perfect.source)
        before = [_content(folder) for folder in folders]
        graded(judge, perfect, ctx)
        assert [_content(folder) for folder in folders] == before


def graded(judge: Judge, grading: Grading, ctx: Context) -> Sequence[Verdict]:
    return tuple(judge.grade(grading, judge.items(grading.task, grading.grader) or (), ctx))


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
