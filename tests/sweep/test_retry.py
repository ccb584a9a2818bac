"""`--retry` opens finished tasks again under the next attempt's number, and pays only for what was dead or unusable."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness2_core.api import Assignment, Digest, executor_engine
from harness2_core.api.runtime import Call, Work
from harness2_core.sweep.run import Again
from harness2_core.sweep.shelves import entry_of, forget
from harness2_core.sweep.stop import Stop

TASK = Again(retry=("sums/first",))

LOSES = """
    mood = {"lost": ("inv",), "stray": ()}

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            if request.kind in mood["lost"]:
                raise Lost("provider", "overloaded")
            said = super().run(request, workspace, ctx)
            if request.kind in mood["stray"]:
                (workspace / "context/harness/tool.rb").write_text("off the surface")
                return Said(said.outcome, "an edit", said.usage)  # its correction too asks for nothing to be kept
            return said
"""


@pytest.fixture
def moody(bench: Any) -> Any:
    """A bench whose improver loses sessions, or leaves unacceptable trees, by kind: `mood` says which."""
    bench.improver("moody", LOSES)
    bench.run(max_tasks=1)
    bench.mood = sys.modules["moody_proposer_made"].mood
    return bench


def test_what_was_lost_is_drawn_anew_with_what_depends_on_it_and_nothing_else(moody: Any) -> None:
    assert moody.mode().stages[0].fell_back
    moody.mood["lost"] = ()

    result = moody.run(again=Again(retry=("dead",)))

    anew = {draw.rpartition("/")[2] for draw in draws(moody) if draw.endswith(".a2")}
    assert anew == {"inv1.a2", "agg1.a2", "reflect_lesson.a2"}  # sessions and rolls; no base, no dom
    assert (result.paid.rollouts, result.paid.sessions) == (2, 3)
    assert (moody.mode().attempt, moody.mode().stages[0].fell_back) == (2, False)


def test_an_unusable_reply_is_replayed_as_the_first_half_of_its_correction_only(bench: Any) -> None:
    bench.improver("moody", LOSES.replace('"lost": ("inv",), "stray": ()', '"lost": (), "stray": ("inv",)'))
    bench.run()
    assert bench.mode().stages[0].fell_back
    sys.modules["moody_proposer_made"].mood["stray"] = ()

    bench.run(again=TASK)

    sessions = {draw for draw in draws(bench) if "/inv1" in draw}
    assert "small-po-agg1/sums/first/inv1.fix.a2" in sessions
    assert sum(request["draw"].endswith("inv1.a2") and "mission" in request for request in bench.requests()) == 0


def test_a_retry_of_what_is_usable_pays_nothing(bench: Any) -> None:
    bench.run()

    again = bench.run(again=TASK)

    assert (again.paid.nothing, again.exit_code, bench.mode().attempt) == (True, 0, 2)


def test_a_stopped_retry_is_gone_on_with_by_a_plain_run(moody: Any) -> None:
    moody.mood["lost"] = ()
    stopped(moody, Again(retry=("dead",)))

    plain = moody.run()

    assert (plain.exit_code, moody.mode().attempt) == (0, 2)
    assert not any(draw.endswith(".a3") for draw in draws(moody))


def test_a_stopped_retry_is_gone_on_with_by_the_same_command(moody: Any) -> None:
    moody.mood["lost"] = ()
    stopped(moody, TASK)

    again = moody.run(again=TASK)

    assert (again.exit_code, moody.mode().attempt) == (0, 2)
    assert not any(draw.endswith(".a3") for draw in draws(moody))


def test_a_retry_that_came_to_its_end_is_followed_by_another(moody: Any) -> None:
    moody.run(again=TASK)

    moody.run(again=TASK)

    assert moody.mode().attempt == 3
    assert any(draw.endswith("inv1.a3") for draw in draws(moody))


def test_partial_opens_what_is_not_ok_and_leaves_the_rest(bench: Any) -> None:
    bench.task("sums/broken")
    bench.plugin("substrate", "frail", FRAIL, token="fr")
    bench.set(substrate="frail")
    bench.run()
    sys.modules["frail_substrate_made"].dead["broken"] = False

    bench.run(again=Again(retry=("partial",)))

    assert bench.mode("sums/broken").attempt == 2
    assert bench.mode("sums/first").attempt == 1


def test_a_mode_that_joins_after_a_retry_comes_to_its_end(bench: Any) -> None:
    bench.plugin("substrate", "frail", FRAIL.replace("sums/broken", "sums/first"), token="fr")
    bench.set(substrate="frail")
    assert bench.run().exit_code == 2  # no base
    sys.modules["frail_substrate_made"].dead["broken"] = False
    bench.run(again=TASK)

    joined = bench.run(modes="parallel,sequential")

    assert (joined.exit_code, joined.left) == (0, ())
    assert bench.run(modes="parallel,sequential").paid.nothing


def test_a_retry_of_one_mode_leaves_the_other_finished(bench: Any) -> None:
    bench.run(modes="parallel,sequential")
    bench.run(again=TASK, modes="parallel")

    again = bench.run(modes="parallel,sequential")

    assert again.skipped == ("sums/first",)
    assert bench.mode(modes="parallel,sequential").attempt == 2
    assert bench.mode(mode="seq", modes="parallel,sequential").attempt == 1


def test_the_number_of_an_attempt_is_no_task_s_name(bench: Any) -> None:
    bench.task("sums/first.a2")
    bench.task("sums/first@2")
    bench.run()
    others = [bench.mode(task) for task in ("sums/first.a2", "sums/first@2")]

    bench.run(again=TASK)

    assert bench.mode("sums/first").attempt == 2
    assert [bench.mode(task) for task in ("sums/first.a2", "sums/first@2")] == others


def test_without_the_cache_what_an_open_task_has_already_is_drawn_anew(bench: Any) -> None:
    stopped(bench, Again())
    before = draws(bench)

    result = bench.run(again=Again(no_cache=True))

    assert before == {"small-po-agg1/sums/first/base1"}
    assert "small-po-agg1/sums/first/base1.a2" in draws(bench)
    assert (result.exit_code, result.paid.rollouts) == (0, 4)


def test_without_the_cache_nothing_is_served_on_any_path(bench: Any) -> None:
    """All is there but the end of the task, as after a kill in the last moment: rollouts, stages, a vote, a lesson."""
    bench.improver("counting", COUNTS)
    bench.plugin("selector", "asking", ASKS)
    bench.set(k=2, selector="asking")
    first = bench.run()
    bench.store().delete("mode", "small-po-agg2/sums/first")
    before, calls = draws(bench), dict(sys.modules["counting_proposer_made"].calls)

    served = bench.run()
    bench.store().delete("mode", "small-po-agg2/sums/first")
    anew = bench.run(again=Again(no_cache=True))

    assert served.paid.nothing
    assert (anew.paid.rollouts, anew.paid.sessions) == (first.paid.rollouts, first.paid.sessions)
    assert draws(bench) - before == {f"{draw}.a2" for draw in before}
    assert set(calls) == {"inv", "dom", "agg", "select", "reflect"}
    assert sys.modules["counting_proposer_made"].calls == {kind: 2 * count for kind, count in calls.items()}


def test_a_stopped_run_without_the_cache_goes_on_with_what_it_has_drawn(bench: Any) -> None:
    stopped(bench, Again())
    stopped(bench, Again(no_cache=True))
    assert "small-po-agg1/sums/first/base1.a2" in draws(bench)

    result = bench.run(again=Again(no_cache=True))

    assert (result.exit_code, result.paid.rollouts, bench.mode().attempt) == (0, 3, 2)


def test_a_retry_without_the_cache_draws_the_whole_task_anew_once(bench: Any) -> None:
    bench.task("sums/second")
    first = bench.run()
    before = draws(bench)

    anew = bench.run(again=Again(retry=("sums/first",), no_cache=True))

    assert (anew.paid.rollouts, anew.paid.sessions) == (first.paid.rollouts // 2, first.paid.sessions // 2)
    assert draws(bench) - before == {f"{draw}.a2" for draw in before if "/sums/first/" in draw}
    assert bench.run(again=Again(no_cache=True)).paid.nothing


def test_without_the_cache_what_is_finished_stays_finished(bench: Any) -> None:
    bench.run()

    again = bench.run(again=Again(no_cache=True))

    assert (again.paid.nothing, bench.mode().attempt) == (True, 1)


def test_after_an_entry_was_forgotten_a_retry_brings_another(bench: Any) -> None:
    bench.run()
    study = bench.reading().study
    forget(study, entry_of(study, "sums/first", "agg"))
    assert bench.reading().adoptions("agg", "sums") == ()

    bench.run(again=TASK)

    assert [entry.task for entry in bench.reading().adoptions("agg", "sums")] == ["sums/first"]


COUNTS = """
    from collections import Counter

    calls = Counter()

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            calls[request.kind] += 1
            said = super().run(request, workspace, ctx)
            if request.kind == "agg":  # finals that deliver the same would save the vote
                program = workspace / "context/harness/scripts/solve.py"
                program.write_text(program.read_text().replace("{total}", "{total} " + request.draw.rpartition("/")[2]))
            return said
"""

ASKS = """
    from harness2_core.api import Ask, Choice

    class Made:
        def select(self, ballot):
            yield (Ask("vote", "Which one?", ballot.evidence),)
            return Choice(next(iter(ballot.candidates)), "asked")
"""

FRAIL = """
    from harness2_core.api import Allowed, Lost, NO_MODEL, Observation, Surface, Trajectory

    dead = {"broken": True}

    class Made:
        surface = Surface("frail", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def run(self, tree, prompt, channel, workspace, ctx):
            if "sums/broken" in prompt and dead["broken"]:
                raise Lost("sandbox", "the container did not start")
            (workspace / "output").mkdir(exist_ok=True)
            (workspace / "output" / "sum.txt").write_text("7")
            return Trajectory((Observation("summed"),), NO_MODEL)
"""


class StopsAtOnce:
    """An engine of four threads that asks for a stop when it is given its first work."""

    def __init__(self, stop: Stop) -> None:
        self._engine, self._stop = executor_engine(ThreadPoolExecutor(4)), stop

    def submit(self, call: Call, work: Assignment) -> Work:
        if not self._stop.level:
            self._stop.ask()
        return self._engine.submit(call, work)

    def wait(self, seconds: float | None) -> Sequence[Work]:
        return self._engine.wait(seconds)

    def now(self) -> float:
        return self._engine.now()

    def cancel(self, request: Digest) -> None:
        self._engine.cancel(request)

    def close(self) -> None:
        self._engine.close()


def stopped(bench: Any, again: Again) -> None:
    """A run of which only the first piece of work is done."""
    stop = Stop()
    assert bench.run(again=again, stop=stop, engine=StopsAtOnce(stop)).interrupted


def draws(bench: Any) -> set[str]:
    """Those of all records; a session and the roll of its tree share theirs."""
    return {request["draw"] for request in bench.requests()}
