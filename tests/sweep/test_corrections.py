"""One correction, whatever was wrong; a reply that could not be used is never served as an answer."""

from __future__ import annotations

import re
import sys
from typing import Any

from harness2_core.sweep.run import Again

MENDED = 'Said(Outcome.FINISHED, "<notes>remedy `skip-notes` applied to it, `stray` removed</notes>", NO_MODEL)'
"""What a correction answers here: the first session's notes, which the scripted composer goes by."""

REFUSED_ONCE = """
    class Made(Scripted):
        def run(self, request, workspace, ctx):
            stray = workspace / "context/harness/notes.txt"
            if request.draw.endswith(".fix"):
                stray.unlink()
                return @MENDED@
            said = super().run(request, workspace, ctx)
            if request.kind in ("inv", "dom", "agg"):
                stray.write_text("off the surface")
            return said
""".replace("@MENDED@", MENDED)


def test_a_correction_goes_on_from_the_files_that_the_improver_left(bench: Any) -> None:
    bench.improver("refused", REFUSED_ONCE)
    assert bench.run().exit_code == 0
    done = bench.mode()
    assert [(stage.label, len(stage.sessions), stage.fell_back) for stage in done.stages] == [
        ("inv1", 2, False),
        ("dom1", 2, False),
        ("agg1", 2, False),
    ]
    program = bench.reading().tree(done.stages[0].tree).files["scripts/solve.py"]
    assert "line.startswith('#')" in program  # the edit of the first session, mended by the second


def test_the_correction_is_told_every_reason_and_no_budget(bench: Any) -> None:
    bench.improver("refused", REFUSED_ONCE)
    bench.run()
    missions = [request["mission"] for request in bench.requests() if request["draw"].endswith("inv1.fix")]
    assert len(missions) == 1
    assert "'notes.txt': not on the editable surface" in missions[0]
    assert not any(word in missions[0].lower() for word in ("usd", "budget", "max-"))


def test_droppings_of_an_editor_use_up_no_correction(bench: Any) -> None:
    bench.improver(
        "untidy",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                said = super().run(request, workspace, ctx)
                if request.kind in ("inv", "dom", "agg"):
                    (workspace / "context/harness/.DS_Store").write_bytes(b"\\x00\\x01")
                    (workspace / "context/harness/scripts/solve.py~").write_text("the version before")
                return said
        """,
    )
    bench.run()
    stages = bench.mode().stages
    assert [(len(stage.sessions), stage.fell_back) for stage in stages] == [(1, False)] * 3
    told = [" ".join(bench.reading().study.archive.reply(stage.sessions[0]).notes) for stage in stages]
    assert all("'.DS_Store'" in notes and "'scripts/solve.py~'" in notes for notes in told)


def test_a_correction_that_asks_to_keep_the_harness_has_what_the_stage_began_from(bench: Any) -> None:
    bench.improver(
        "undecided",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                if request.kind != "inv":
                    return super().run(request, workspace, ctx)
                (workspace / "context/harness/extra.txt").write_text("again")
                keep = request.draw.endswith(".fix")
                return Said(Outcome.FINISHED, "KEEP_BASE" if keep else "<notes>an edit</notes>", NO_MODEL)
        """,
    )
    bench.run()
    inv = bench.mode().stages[0]
    assert (inv.kept, inv.fell_back, len(inv.sessions), inv.error) == (True, False, 2, "")
    assert inv.tree == bench.reading().study.base_digest


def test_later_sessions_are_told_that_a_long_reason_of_a_refusal_was_cut(bench: Any) -> None:
    bench.improver(
        "stubborn",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                if request.kind != "inv":
                    return super().run(request, workspace, ctx)
                for n in range(9):
                    (workspace / "context/harness" / f"{n}{'x' * 90}.txt").write_text("again")
                return Said(Outcome.FINISHED, "<notes>it must stay</notes>", NO_MODEL)
        """,
    )
    bench.run()
    (request,) = (r for r in bench.requests() if r["draw"].endswith("/agg1") and "mission" in r)
    archive = bench.reading().study.archive
    note = archive.text(archive.manifest(request["evidence"]).entries["decisions/inv1.md"].digest)
    assert re.fullmatch(
        r"\(no edit came of this stage: .* \[harness2: \d+ characters left out here by the framework\]\)\n", note
    )


REFUSES_ALL = """
    from harness2_local.tasks import TaskFolders

    class Made(TaskFolders):
        def check_tree(self, tree):
            return ["no tree is good enough"]
"""


def test_who_keeps_the_harness_is_not_corrected_for_what_a_check_thinks_of_it(bench: Any) -> None:
    bench.plugin("adapter", "strict", REFUSES_ALL, settings="harness2_local.settings:TasksSettings")
    bench.set(bench="strict", modes="null", **{"adapters.strict.path": bench.folder, "adapters.strict.name": "small"})
    bench.run()
    stages = bench.mode(mode="nul").stages
    assert [(stage.kept, stage.fell_back, len(stage.sessions)) for stage in stages] == [(True, False, 1)] * 3


def test_two_refusals_fall_back_to_what_was_given_and_it_is_rolled(bench: Any) -> None:
    bench.improver(
        "stubborn",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                if request.kind != "inv":
                    return super().run(request, workspace, ctx)
                (workspace / "context/harness/extra.txt").write_text("again")
                return Said(Outcome.FINISHED, "<notes>it must stay</notes>", NO_MODEL)
        """,
    )
    assert bench.run().exit_code == 0
    inv = bench.mode().stages[0]
    assert (inv.fell_back, len(inv.sessions)) == (True, 2)
    assert "extra.txt" in inv.error
    assert inv.tree == bench.reading().study.base_digest
    assert [roll.label for roll in bench.mode().rolls] == ["inv1", "dom1", "agg1"]


LOSES_TWO = """
    lost = []

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            stray = workspace / "context/harness/notes.txt"
            if request.draw.endswith("/inv1") and len(lost) < 2:
                lost.append(request.draw)
                raise Lost("rate-limit", "slow down", wait_seconds=40, usage=Usage("0.25", source="stream"))
            if request.draw.endswith(".fix"):
                stray.unlink()
                return @MENDED@
            said = super().run(request, workspace, ctx)
            if request.draw.endswith("/inv1"):
                stray.write_text("off the surface")
            return said
""".replace("@MENDED@", MENDED)


def test_a_rate_limit_costs_no_correction_and_its_price_is_kept(bench: Any) -> None:
    bench.improver("limited", LOSES_TWO)
    result = bench.run()
    inv = bench.mode().stages[0]
    assert sys.modules["limited_proposer_made"].lost == ["small-po-agg1/sums/first/inv1"] * 2
    assert (len(inv.sessions), inv.fell_back) == (2, False)
    assert result.exit_code == 0
    assert (result.paid.lost, result.paid.usage["improver"].usd) == (2, "0.5")


UNUSABLE_VOTES = """
    asked = []

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            if request.kind == "select":
                asked.append(request.draw.rpartition("/")[2])
                if not asked[-1].endswith(".a2"):
                    return Said(Outcome.FINISHED, "I like the second one best.", NO_MODEL)
            said = super().run(request, workspace, ctx)
            program = workspace / "context/harness/scripts/solve.py"
            if request.kind == "agg":
                text, label = program.read_text(), request.draw.rpartition("/")[2].partition(".")[0]
                program.write_text(text.replace('say("summed")', f'(output / "{label}.txt").write_text("mine")'))
            return said
"""


def test_an_unusable_vote_is_corrected_once_and_never_served_as_an_answer(bench: Any) -> None:
    bench.improver("chatty", UNUSABLE_VOTES)
    bench.set(k=2)
    bench.run()
    first = bench.mode().selection
    retried = bench.run(again=Again(retry=("sums/first",)))
    second = bench.mode().selection
    assert (first.fallback, len(first.sessions)) == (True, 2)
    assert sys.modules["chatty_proposer_made"].asked == ["select_blind", "select_blind.fix", "select_blind.fix.a2"]
    assert (second.fallback, second.error) == (False, "")
    assert retried.exit_code == 0


UNUSABLE_EDITS = """
    seen = []

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            label = request.draw.rpartition("/")[2]
            seen.append(label)
            stray = workspace / "context/harness/notes.txt"
            if ".fix" in label:
                if label.endswith(".a2"):
                    stray.unlink()
                return @MENDED@
            said = super().run(request, workspace, ctx)
            if label == "inv1":
                stray.write_text("off the surface")
            return said
""".replace("@MENDED@", MENDED)


def test_an_edit_refused_twice_is_drawn_again_when_its_task_is_retried(bench: Any) -> None:
    bench.improver("slow_learner", UNUSABLE_EDITS)
    bench.run()
    fell = bench.mode().stages[0]
    bench.run(again=Again(retry=("sums/first",)))
    mended = bench.mode().stages[0]
    labels = sys.modules["slow_learner_proposer_made"].seen
    assert (fell.fell_back, mended.fell_back) == (True, False)
    assert (labels.count("inv1"), labels.count("inv1.fix"), labels.count("inv1.fix.a2")) == (1, 1, 1)
    assert labels.count("dom1") == 1  # what was usable is not paid again
