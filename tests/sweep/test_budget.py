"""Budgets bound the experiment over invocations; a mode begins only if all of it fits; no model hears of them."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from harness2_core.model.channel import Channel, Outcome
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.model.records import Rollout
from harness2_core.model.requests import RolloutRequest, request_digest
from harness2_core.model.serial import dump
from harness2_core.sweep.bodies import body
from harness2_core.sweep.estimate import estimate, sessions_besides
from harness2_core.sweep.ledger import Ledger, Spent, ledger_of
from harness2_core.sweep.outcomes import Result
from harness2_core.sweep.prepare import Prepare
from harness2_core.sweep.run import reselect_sweep
from harness2_core.sweep.slots import Group
from harness2_core.sweep.steps import Wanted
from harness2_core.sweep.stop import Stop
from harness2_core.work import attempts

PRICED = """
    from harness2_core.api import Allowed, Observation, Surface, Trajectory, Usage

    class Made:
        surface = Surface("priced", always_on=(), cap_chars=0, allowed=(Allowed("program", "scripts/solve.py"),))

        def knows_price(self, channel):
            return channel.model != "mystery"

        def run(self, tree, prompt, channel, workspace, ctx):
            (workspace / "output").mkdir(exist_ok=True)
            (workspace / "output" / "sum.txt").write_text("7")
            return Trajectory((Observation("summed"),), Usage(usd="0.5", source="stream"))
"""


@pytest.fixture
def priced(bench: Any) -> Any:
    """Rollouts cost half a dollar, sessions nothing; three tasks of one domain, one mode, k = 1: four rollouts each."""
    bench.plugin("substrate", "priced", PRICED, token="pr")
    bench.task("sums/second")
    bench.task("sums/third")
    bench.set(substrate="priced")
    return bench


def test_a_count_limit_admits_whole_tasks_only(priced: Any) -> None:
    result = priced.run(max_rollouts=7)

    assert dict(result.statuses) == {"sums/first": "ok"}
    assert (result.exit_code, result.paid.rollouts) == (3, 4)
    assert result.left == ("sums/second", "sums/third")
    assert any("--max-rollouts 7" in why for why in result.held.values())


def test_a_session_limit_counts_the_stages_of_the_plan(priced: Any) -> None:
    result = priced.run(max_sessions=5)

    assert dict(result.statuses) == {"sums/first": "ok"}
    assert result.exit_code == 3


@pytest.mark.parametrize(("limit", "sessions"), [(3, 0), (4, 4), (7, 4), (8, 8)])
def test_a_limit_of_sessions_keeps_room_for_reflection_and_never_leaves_a_task_without(
    priced: Any, limit: int, sessions: int
) -> None:
    """Three stages and a lesson: one that has been begun is ended."""
    result = priced.run(max_sessions=limit)

    assert (result.paid.sessions, len(result.statuses)) == (sessions, sessions // 4)
    assert {step.split()[0] for step in result.held} == {"open"}


HASTY = """
    from harness2_core.api import Choice

    class Made:
        def select(self, ballot):
            return Choice(ballot.ids[0])
            yield ()

        def sessions(self, candidates):
            """


@pytest.mark.parametrize(
    ("selector", "reflector", "besides"),
    [("blind", "lesson", 2), ("pairwise", "lesson", 3), ("first", "lesson", 1), ("consensus", "none", 0)],
)
def test_what_selection_and_reflection_are_going_to_ask_for_is_known_before(
    priced: Any, selector: str, reflector: str, besides: int
) -> None:
    study = priced.reading(k=2, selector=selector, reflector=reflector).study

    assert sessions_besides(study, "agg") == besides


@pytest.mark.parametrize(("counts", "said"), [("1 / 0", "raised ZeroDivisionError"), ("-1", "returned -1, which")])
def test_a_selector_that_cannot_count_its_sessions_is_named_before_anything_is_paid(
    priced: Any, counts: str, said: str
) -> None:
    priced.plugin("selector", "hasty", f"{HASTY}return {counts}")

    with pytest.raises(PluginError, match=f"hasty: its method `sessions` {said}"):
        priced.run(k=2, selector="hasty")

    assert list(priced.store().scan("rollout")) == []


def test_a_control_that_does_not_learn_reflects_on_nothing(priced: Any) -> None:
    study = priced.reading(modes="sampling,null").study

    assert (sessions_besides(study, "bon"), sessions_besides(study, "nul")) == (1, 0)


def stopped_in_the_middle(priced: Any) -> None:
    """A run without a limit has reserved all three tasks, and is stopped in the middle of the first."""
    stop = Stop()

    def in_the_middle(event: Any) -> None:
        if event.what == "attempt-started" and event.kind == "rolls":
            stop.level = 1

    priced.run(stop=stop, listeners=[in_the_middle], slots=1)


def test_a_lower_limit_goes_on_with_what_it_has_room_for_and_begins_nothing_else(priced: Any) -> None:
    stopped_in_the_middle(priced)
    result = priced.run(max_rollouts=7)

    assert dict(result.statuses) == {"sums/first": "ok"}
    assert {step.split()[0] for step in result.held} == {"open"}
    assert priced.run(max_rollouts=12).exit_code == 0


def test_a_lower_limit_in_usd_goes_on_with_what_it_has_room_for(priced: Any) -> None:
    stopped_in_the_middle(priced)
    result = priced.run(max_usd="3.5")

    assert dict(result.statuses) == {"sums/first": "ok"}
    assert {step.split()[0] for step in result.held} == {"open"}


def test_a_limit_counts_what_earlier_invocations_took_without_one(priced: Any) -> None:
    priced.run(only_tasks="sums/first")

    result = priced.run(max_rollouts=8)

    assert dict(result.statuses) == {"sums/first": "ok", "sums/second": "ok"}
    assert (result.exit_code, result.paid.rollouts) == (3, 4)


def test_a_raised_limit_goes_on_and_ends_as_without_one(priced: Any) -> None:
    priced.run(max_rollouts=4)

    result = priced.run(max_rollouts=12)

    assert (result.exit_code, result.paid.rollouts) == (0, 8)
    assert set(result.statuses.values()) == {"ok"}


def test_a_limit_below_one_task_starts_nothing_and_says_so(priced: Any) -> None:
    result = priced.run(max_rollouts=3)

    assert result.paid.nothing
    assert result.exit_code == 3
    assert "it needs 4" in next(iter(result.held.values()))


def test_money_is_held_back_by_what_was_paid_so_far(priced: Any) -> None:
    priced.run(only_tasks="sums/first")  # 2 USD: half a dollar a rollout is known from now on

    result = priced.run(max_usd="4.5")

    assert dict(result.statuses) == {"sums/first": "ok", "sums/second": "ok"}
    assert result.exit_code == 3


def test_at_the_limit_nothing_more_starts_and_what_was_paid_stays(priced: Any) -> None:
    result = priced.run(max_usd="1", slots=1)

    spent = ledger_of(priced.reading().study).spent()
    assert result.exit_code == 3
    assert Decimal(1) <= spent.usd <= Decimal("1.5")
    assert priced.run(max_usd="100").exit_code == 0


def test_a_limit_in_usd_needs_known_prices_or_a_count(priced: Any) -> None:
    unknown = {"roles.executor.model": "mystery"}

    with pytest.raises(ConfigError, match=r"--max-usd 5 cannot hold.*executor \(priced, model mystery\)"):
        priced.run(max_usd="5", **unknown)

    assert priced.run(max_usd="500", max_rollouts=100, **unknown).exit_code == 0


@pytest.mark.parametrize(("limits", "begun"), [({}, 1), ({"max_rollouts": 100}, 12)])
def test_a_limit_in_usd_stops_when_prices_are_not_told_though_they_were_said_to_be_known(
    priced: Any, limits: dict[str, int], begun: int
) -> None:
    priced.plugin("substrate", "silent", PRICED.replace('usd="0.5"', "usd=None"), token="si")

    result = priced.run(max_usd="1", slots=1, substrate="silent", **limits)

    assert result.paid.rollouts == begun
    assert all("1 requests did not tell what they cost" in why for why in result.held.values())


def test_work_that_never_came_about_does_not_count_as_of_unknown_price(priced: Any) -> None:
    lost = "global losses\n            if losses:\n                losses -= 1\n"
    lost += "                raise Lost('sandbox', 'never')\n"
    source = PRICED.replace("Usage\n", "Lost, Usage\n\n    losses = 3\n", 1)
    source = source.replace("            (workspace /", f"            {lost}            (workspace /", 1)
    priced.plugin("substrate", "absent", source, token="ab")

    assert priced.run(max_usd="100", k=2, max_tasks=1, slots=1, substrate="absent").paid.rollouts == 8


LOSES = """
    losses = 6

    class Made(Scripted):
        def knows_price(self, channel):
            return True

        def run(self, request, workspace, ctx):
            global losses
            if request.kind == "inv" and losses:
                losses -= 1
                raise Lost("network", "not now", usage=Usage("10", source="stream"))
            return super().run(request, workspace, ctx)
"""


def test_a_lost_attempt_is_not_repeated_beyond_a_limit(priced: Any) -> None:
    priced.improver("losing", LOSES)

    result = priced.run(max_usd="15", max_tasks=1)

    assert (result.exit_code, result.paid.lost) == (3, 2)  # the second began at 11 USD
    assert any("21.0 USD paid" in why for why in result.held.values())
    assert sum(event.what == "attempt-waits" for event in priced.events) == 1  # and what is held is not waited for


def test_a_mode_that_does_not_fit_is_held_and_the_other_goes_on(priced: Any) -> None:
    both = {"modes": "parallel,sequential", "max_tasks": 1}

    first = priced.run(max_rollouts=6, **both)

    assert (first.exit_code, first.paid.rollouts, first.left) == (3, 4, ("sums/first",))
    assert list(first.held) == ["view sums/first seq"]
    assert priced.run(max_rollouts=7, **both).paid.rollouts == 3


def test_what_is_paid_for_elsewhere_or_has_a_record_needs_no_budget(priced: Any) -> None:
    study = priced.reading().study
    request = RolloutRequest("b", "d/t", "0" * 64, "pr", "0" * 64, Channel(), {}, f"{study.home}/d/t/base1")
    wanted = Wanted(request, request_digest(request), Group("rollout", ""))
    prepare: Prepare[Result] = Prepare(study, body, lambda wanted: "no money", {})

    with study.store.claim(wanted.digest):
        elsewhere = prepare.admit((wanted,))
    held = prepare.admit((wanted,))
    study.store.put("rollout", wanted.digest, dump(Rollout(wanted.digest, Outcome.FINISHED)))
    served = prepare.admit((wanted,))

    assert [answer.state for (answer,) in (elsewhere, held, served)] == ["elsewhere", "held", "served"]
    with study.store.claim(wanted.digest) as free:
        assert free


UNSURE = """
    class Made(Scripted):
        def knows_price(self, channel):
            return False
"""


def test_another_vote_needs_known_prices_too_where_it_asks_for_sessions(priced: Any) -> None:
    priced.improver("unsure", UNSURE)
    priced.run(k=2, max_tasks=1)

    with pytest.raises(ConfigError, match=r"--max-usd 5 cannot hold[^,]*: selector \(unsure, model unset\)\n"):
        reselect_sweep(priced.config(k=2, max_usd="5"), "pairwise")

    assert reselect_sweep(priced.config(k=2, max_usd="5"), "first").paid.nothing
    assert reselect_sweep(priced.config(k=2, max_usd="5", max_sessions=99), "pairwise").exit_code == 0


def test_hours_bound_the_experiment(priced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What took no time is written down as having taken an hour each, one after the other."""
    stamps = (f"2026-01-{1 + n // 24:02}T{n % 24:02}:00:00Z" for n in count())
    with monkeypatch.context() as patch:
        patch.setattr(attempts, "utc_now", lambda: next(stamps))
        assert priced.run(max_hours="0").paid.nothing
        first = priced.run(max_hours="9", slots=1, only_tasks="sums/first")  # four rollouts, four sessions

    second = priced.run(max_hours="8")

    assert (first.exit_code, second.exit_code, second.paid.nothing) == (0, 3, True)
    assert "--max-hours 8 is used up, 8.00 before this run" in second.held.values()
    assert priced.run(max_hours="8.5").exit_code == 0


def test_look_ahead_bases_are_charged_to_their_task(priced: Any) -> None:
    priced.run(max_rollouts=6, lookahead=2)

    assert ledger_of(priced.reading().study).spent().rollouts == 4  # no base of a task that does not fit


def test_no_budget_text_reaches_a_model(priced: Any) -> None:
    priced.run(max_rollouts=1234, max_usd="4321", max_sessions=987)

    asked = " ".join(str(request) for request in priced.requests())

    assert not any(number in asked for number in ("1234", "4321", "987,", "max_", "budget"))


def test_what_is_to_be_done_is_told_before(priced: Any) -> None:
    priced.run(only_tasks="sums/first")

    priced.run()

    first, second = (notice for notice in priced.notices if notice.startswith("to do: "))
    assert first.startswith("to do: at most 4 rollouts and 3 sessions")
    assert second.startswith("to do: at most 8 rollouts and 6 sessions")
    assert "about 4.00 USD at the mean price so far, after 2.00 USD paid" in second


def test_an_estimate_counts_selection_and_reflection_and_says_how_far_prices_lie_apart(priced: Any) -> None:
    """Three tasks of four rollouts, three stages and a lesson."""
    mean, least, most = ({"rollout": Decimal(r), "session": Decimal(s)} for r, s in ((2, 1), (1, 1), (9, 2)))

    class Told(Ledger):
        def spent(self, but: str = "") -> Spent:
            return Spent(mean_usd=mean, least_usd=least, most_usd=most)

    study = priced.reading().study
    told = estimate(study, Told(study.archive, ())).words()

    assert "about 36.00 USD at the mean price so far (24.00 to 132.00 at the lowest and the highest)" in told
