"""Work that came to nothing is a value: its task says so, everything else goes on."""

from __future__ import annotations

import sys
from typing import Any

from harness2_core.sweep.run import Again

FRAIL = """
    from harness2_core.api import Allowed, Lost, NO_MODEL, Observation, Surface, Trajectory, Usage

    calls = []
    dead = {"broken": True}

    class Made:
        surface = Surface("frail", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def run(self, tree, prompt, channel, workspace, ctx):
            calls.append(prompt)
            if "sums/broken" in prompt and dead["broken"]:
                raise Lost("sandbox", "the container did not start", usage=Usage("0.01", source="stream"))
            (workspace / "output").mkdir(exist_ok=True)
            (workspace / "output" / "sum.txt").write_text("7")
            return Trajectory((Observation("summed"),), NO_MODEL)
"""


def test_a_task_without_a_usable_base_is_base_failed_and_the_others_go_on(bench: Any) -> None:
    bench.plugin("substrate", "frail", FRAIL, token="fr")
    bench.task("sums/broken")
    result = bench.run(substrate="frail")
    failed = bench.summary("sums/broken", substrate="frail")
    assert dict(result.statuses) == {"sums/broken": "base-failed", "sums/first": "ok"}
    assert result.exit_code == 2
    assert failed.modes == {}
    assert failed.bases[0].outcome.value == "lost"


def test_a_base_is_never_taken_for_usable_because_a_directory_is_there(bench: Any) -> None:
    bench.plugin("substrate", "frail", FRAIL, token="fr")
    bench.task("sums/broken")
    bench.set(substrate="frail", keep_workspaces="true")
    bench.run()
    (digest,) = (roll.rollout for roll in bench.summary("sums/broken").bases)
    assert (bench.runs / "work" / digest).is_dir()
    assert bench.summary("sums/broken").status == "base-failed"


def test_retry_dead_draws_the_dead_work_anew_and_pays_for_nothing_else(bench: Any) -> None:
    bench.plugin("substrate", "frail", FRAIL, token="fr")
    bench.task("sums/broken")
    bench.set(substrate="frail")
    bench.run()
    calls = sys.modules["frail_substrate_made"].calls
    before = len([prompt for prompt in calls if "sums/first" in prompt])
    sys.modules["frail_substrate_made"].dead["broken"] = False
    result = bench.run(again=Again(retry=("dead",)))
    assert (result.exit_code, result.paid.rollouts) == (0, 4)
    assert len([prompt for prompt in calls if "sums/first" in prompt]) == before
    assert bench.summary("sums/broken").status == "ok"


def test_a_plain_resume_does_not_try_the_dead_again(bench: Any) -> None:
    bench.plugin("substrate", "frail", FRAIL, token="fr")
    bench.task("sums/broken")
    bench.set(substrate="frail")
    bench.run()
    again = bench.run()
    assert (again.paid.nothing, again.exit_code) == (True, 2)


REFUSES = """
    refused = []

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            if request.kind == "inv" and len(refused) < 1:
                refused.append(request.draw)
                return Said(Outcome.REFUSED, "I will not do this.", Usage("0.02", source="stream"))
            return super().run(request, workspace, ctx)
"""


def test_a_refusal_is_never_kept_as_an_answer_and_is_asked_once_more(bench: Any) -> None:
    bench.improver("refusing", REFUSES)
    result = bench.run()
    assert (result.exit_code, bench.mode().stages[0].fell_back) == (0, False)
    assert not any("I will not" in reply.text for reply in bench.replies())
    assert (result.paid.lost, result.paid.usage["improver"].usd) == (1, "0.02")
