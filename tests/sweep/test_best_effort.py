"""What goes wrong beside the work itself undoes none of it: reflectors, selectors, evidence that must not be shown."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from harness2_core.sweep.run import judge_sweep

RAISES = """
    class Made:
        def reflect(self, round):
            raise RuntimeError("out of ideas")
            yield ()
"""
NO_LESSON = """
    class Made:
        def reflect(self, round):
            return "a text where a lesson belongs"
            yield ()
"""
HALF_A_LESSON = """
    from harness2_core.api import Lesson

    class Made:
        def reflect(self, round):
            return Lesson(cue="a cue", lesson=7, evidence=None)
            yield ()
"""


@pytest.mark.parametrize("written", [RAISES, NO_LESSON, HALF_A_LESSON], ids=["raises", "a text", "half a lesson"])
def test_a_reflector_that_fails_undoes_nothing(bench: Any, written: str) -> None:
    bench.plugin("reflector", "broken", written)
    bench.task("sums/second")
    result = bench.run(reflector="broken")
    done = bench.mode(reflector="broken")
    assert (result.exit_code, dict(result.statuses)) == (0, {"sums/first": "ok", "sums/second": "ok"})
    assert (done.ok, done.selection.chosen, bool(done.adopted)) == (True, "agg1", True)
    assert done.reflection.lesson is None
    assert done.reflection.error


REMEMBERS = """
    rounds = []

    class Made:
        def reflect(self, round):
            rounds.append(round)
            return None
            yield ()
"""


def test_a_reflector_is_told_what_was_picked_why_and_whose_the_ids_in_that_reason_are(bench: Any) -> None:
    bench.plugin("reflector", "remembers", REMEMBERS)
    unlike_finals(bench)
    bench.set(k=2, reflector="remembers")
    bench.run()
    selection, archive = bench.mode().selection, bench.reading().study.archive
    (round,) = sys.modules["remembers_reflector_made"].rounds
    told = json.loads(archive.text(round.evidence.entries["adoption.json"].digest))
    assert (round.adopted, round.choice.id, round.choice.why) == (
        selection.chosen,
        selection.chosen_id,
        selection.why,
    )
    assert told == {
        "chosen": selection.chosen,
        "chosen_id": selection.chosen_id,
        "ids": {"A": selection.ids["A"], "B": selection.ids["B"]},
        "why": selection.why,
    }
    assert selection.why


VOTES_OFF_THE_BALLOT = """
    from harness2_core.api import Choice

    class Made:
        def select(self, ballot):
            return Choice("Z")
            yield ()
"""
VOTES_IN_WORDS = """
    class Made:
        def select(self, ballot):
            return "the first, I would say"
            yield ()
"""
VOTES_WITHOUT_A_TEXT = """
    from harness2_core.api import Choice

    class Made:
        def select(self, ballot):
            return Choice(ballot.ids[0], why=12)
            yield ()
"""
GIVES_UP = """
    class Made:
        def select(self, ballot):
            raise RuntimeError("cannot decide")
            yield ()
"""


@pytest.mark.parametrize(
    "written",
    [VOTES_OFF_THE_BALLOT, VOTES_IN_WORDS, VOTES_WITHOUT_A_TEXT, GIVES_UP],
    ids=["off the ballot", "in words", "without a text", "gives up"],
)
def test_a_failed_selector_delivers_the_first_of_the_ballot_and_teaches_nothing(bench: Any, written: str) -> None:
    bench.plugin("selector", "broken", written)
    unlike_finals(bench)
    bench.set(k=2, selector="broken")
    result = bench.run()
    done = bench.mode()
    assert (result.exit_code, done.ok) == (0, True)
    assert done.selection.fallback
    assert done.selection.chosen == done.selection.ids["A"]
    assert done.selection.error
    assert (done.adopted, done.reflection.sessions) == ("", ())


def test_after_a_failed_selector_it_is_the_ballots_order_that_decides_and_no_alphabet(bench: Any) -> None:
    bench.plugin("selector", "broken", GIVES_UP)
    unlike_finals(bench)
    for task in range(3):
        bench.task(f"sums/t{task}")
    bench.set(k=2, selector="broken")
    bench.run()
    picked = {bench.mode(f"sums/t{task}").selection.chosen for task in range(3)}
    assert picked == {"agg1", "agg2"}


def test_a_fallback_is_an_end_and_is_not_run_again(bench: Any) -> None:
    bench.plugin("selector", "broken", GIVES_UP)
    unlike_finals(bench)
    bench.set(k=2, selector="broken")
    bench.run()
    again = bench.run()
    assert (again.exit_code, again.skipped, again.paid.nothing) == (0, ("sums/first",), True)


PASSES = """
    from harness2_core.api import Item, Verdict

    class Made:
        def items(self, task, grader):
            return (Item("sum"),)

        def grade(self, work, items, ctx):
            yield from (Verdict(item.name, True) for item in items)
"""


def test_what_a_fallback_delivers_is_judged_as_any_pick_is(bench: Any) -> None:
    bench.plugin("selector", "broken", GIVES_UP)
    bench.plugin("judge", "passes", PASSES)
    unlike_finals(bench)
    bench.set(k=2, selector="broken", judge="passes")
    bench.run()
    (row,) = judge_sweep(bench.config(), "finals").rows
    assert (row.label, row.picked, row.score) == (bench.mode().selection.chosen, True, "1")


SHOWS_WHAT_IT_SEALS = """
    from attrs import evolve
    from harness2_core.api import Collected
    from harness2_local.tasks import TaskFolders

    class Made(TaskFolders):
        def collect(self, run, task):
            report = run / "output" / "report.json"
            report.write_text('{"verdict": "seven of nine, and much more that nobody may see"}')
            files = {"sum.txt": run / "output" / "sum.txt", "report.json": report}
            return Collected(True, files, sealed={"report.json": report})
"""


def test_grader_side_content_in_evidence_stops_the_item_and_not_the_task(bench: Any) -> None:
    bench.plugin("adapter", "leaky", SHOWS_WHAT_IT_SEALS, settings="harness2_local.settings:TasksSettings")
    bench.set(bench="leaky", k=2, **{"adapters.leaky.path": bench.folder, "adapters.leaky.name": "small"})
    result = bench.run()
    done = bench.mode()
    assert result.exit_code == 0
    assert all(stage.fell_back and "report.json" in stage.error for stage in done.stages)
    assert done.reflection.lesson is None
    assert bench.replies() == []
    assert result.paid.rollouts == 8


AT_A_LOSS_FOR_WORDS = """
    import os
    from harness2_local.tasks import TaskFolders

    class Made(TaskFolders):
        def words(self, task):
            if task == "sums/first" and not os.environ.get("WORDS_OF_ALL"):
                raise RuntimeError("no words for it")
            return self.spec.words
"""


def at_a_loss(bench: Any) -> None:
    bench.plugin("adapter", "mute", AT_A_LOSS_FOR_WORDS, settings="harness2_local.settings:TasksSettings")
    bench.set(bench="mute", **{"adapters.mute.path": bench.folder, "adapters.mute.name": "small"})
    bench.task("sums/second")


def test_a_task_whose_words_an_adapter_cannot_give_fails_alone(bench: Any) -> None:
    at_a_loss(bench)
    result = bench.run()
    assert dict(result.statuses) == {"sums/first": "partial", "sums/second": "ok"}
    assert all("no words for it" in stage.error for stage in bench.mode("sums/first").stages)
    assert not any(stage.error for stage in bench.mode("sums/second").stages)


def test_a_library_is_shown_again_though_the_words_of_a_task_are_lost(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_loss(bench)
    monkeypatch.setenv("WORDS_OF_ALL", "yes")
    assert bench.run().exit_code == 0
    monkeypatch.delenv("WORDS_OF_ALL")
    (index,) = bench.runs.glob("library/**/INDEX.md")
    before = index.read_text()
    index.unlink()
    assert bench.run().exit_code == 0
    assert index.read_text() == before


def unlike_finals(bench: Any) -> None:
    """Makes an improver whose compositions deliver different files."""
    bench.improver(
        "unlike",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                said = super().run(request, workspace, ctx)
                program = workspace / "context/harness/scripts/solve.py"
                if request.kind in ("agg", "compose"):
                    text = program.read_text()
                    label = request.draw.rpartition("/")[2].partition(".")[0]
                    program.write_text(text.replace('say("summed")', f'(output / "{label}.txt").write_text("mine")'))
                return said
        """,
    )
