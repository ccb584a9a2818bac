"""Ledger and budgets, whatever happens in whatever order: what is counted is what is there, and no limit is passed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.model.canonical import Digest, digest_bytes
from harness2_core.model.channel import Channel, Outcome, Usage
from harness2_core.model.check import decimal_text
from harness2_core.model.plan import BASE, Plan, Roll, Stage
from harness2_core.model.records import AttemptEnded, AttemptStarted, Reply, Rollout
from harness2_core.model.requests import Request, RolloutRequest, SessionRequest, encode_request
from harness2_core.model.serial import dump
from harness2_core.sweep import ledger as ledgers
from harness2_core.sweep.archive import Archive
from harness2_core.sweep.budget import Budget, Caps
from harness2_core.sweep.ledger import Ledger, Spent
from harness2_core.sweep.slots import Group
from harness2_core.sweep.steps import Wanted
from harness2_core.testing.memory_store import MemoryStore
from harness2_core.work import attempts

HOME, OTHER = "jb-oc-agg1", "jb-oc-agg1-other"
DIGEST = "0" * 64
AMOUNTS = st.none() | st.decimals(0, 100, places=2).map(decimal_text)


@frozen
class Course:
    """What befalls one request: `lost` are the prices of attempts that came to nothing; `price` that of its end."""

    kind: str
    namespace: str
    lost: tuple[str | None, ...]
    ended: bool
    price: str | None


COURSES = st.lists(
    st.builds(
        Course,
        st.sampled_from(["rollout", "session"]),
        st.sampled_from([HOME, HOME, OTHER]),
        st.lists(AMOUNTS, max_size=2).map(tuple),
        st.booleans(),
        AMOUNTS,
    ),
    max_size=8,
)


@pytest.fixture(autouse=True)
def _always_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "SCAN_SECONDS", 0.0)


@given(COURSES, st.data())
def test_a_ledger_counts_what_was_begun_and_paid_in_its_experiment_and_nothing_twice(
    courses: list[Course], data: st.DataObject
) -> None:
    store = MemoryStore()
    watching = Ledger(Archive(store), {HOME})
    for number in data.draw(st.permutations(range(len(courses)))):
        _befall(store, courses[number], f"l{number}")
        if data.draw(st.booleans()):
            watching.spent()

    ours = [course for course in courses if course.namespace == HOME]
    prices = [price for course in ours for price in (*course.lost, course.price if course.ended else None)]
    settled = [course for course in ours if course.ended]
    expected = Spent(
        rollouts=sum(course.kind == "rollout" for course in ours),
        sessions=sum(course.kind == "session" for course in ours),
        usd=sum((Decimal(price) for price in prices if price is not None), Decimal(0)),
        unpriced=sum(course.price is None and not any(course.lost) for course in settled),
    )
    for ledger in (watching, Ledger(Archive(store), {HOME})):
        found = ledger.spent()
        assert (found.rollouts, found.sessions, found.usd) == (expected.rollouts, expected.sessions, expected.usd)
        assert (found.unpriced, found.in_flight) == (expected.unpriced, 0)
        for kind, mean in found.mean_usd.items():
            known = [course for course in settled if course.kind == kind]
            assert 0 <= mean <= sum((Decimal(p) for c in known for p in (*c.lost, c.price) if p), Decimal(0))


PLANS = {
    "one": Plan((Stage("inv1", "inv", BASE, ("base1",)), Roll("inv1", "inv1")), ("inv1",), rollouts=2, sessions=1),
    "two": Plan((Roll("a", BASE), Roll("b", BASE), Roll("c", BASE)), ("a", "b"), rollouts=4, sessions=0),
}
ASKED = st.tuples(st.integers(0, 3), st.sampled_from(sorted(PLANS)), st.integers(1, 2), st.booleans())
COUNTS = st.none() | st.integers(0, 20)


@given(COUNTS, COUNTS, st.lists(ASKED, max_size=20))
def test_whole_plans_are_admitted_and_never_beyond_a_limit_whoever_asks(
    rollouts: int | None, sessions: int | None, asked: Sequence[tuple[int, str, int, bool]]
) -> None:
    """Two processes ask in turn, again and again; a task's bases count once for each of its attempts."""
    store = MemoryStore()
    budgets = [_budget(store, Caps(None, rollouts, sessions)) for _ in range(2)]
    bases: set[tuple[int, int]] = set()
    admitted: set[tuple[int, str, int]] = set()

    def taken(bases: set[tuple[int, int]], admitted: set[tuple[int, str, int]]) -> tuple[int, int]:
        plans = [PLANS[mode] for _, mode, _ in admitted]
        return len(bases) + sum(len(plan.rolls) for plan in plans), sum(plan.sessions for plan in plans)

    def fits(found: tuple[int, int]) -> bool:
        return all(cap is None or count <= cap for count, cap in zip(found, (rollouts, sessions), strict=True))

    for task, mode, attempt, second in asked:
        why = budgets[second].admit(f"d/t{task}", mode, PLANS[mode], attempt)
        wider = (bases | {(task, attempt)}, admitted | {(task, mode, attempt)})
        assert bool(why) is not fits(taken(*wider)), why
        if not why:
            bases, admitted = wider
        assert fits(taken(bases, admitted)) or not admitted


def test_nobody_else_counts_between_the_counting_and_the_reserving() -> None:
    """Or two processes would both take the last place."""

    class Watched:
        def __init__(self, store: MemoryStore) -> None:
            self._store = store
            self.alone: list[bool] = []

        def __getattr__(self, name: str) -> object:
            if name in ("scan", "put"):
                with self._store.claim(f"budget {HOME}") as free:
                    self.alone.append(not free)
            return getattr(self._store, name)

    watched = Watched(MemoryStore())
    archive = Archive(watched)  # type: ignore[arg-type]
    budget = Budget(Caps(None, 2), archive, HOME, 1, Ledger(archive, {HOME}), lambda: 0.0)

    assert budget.admit("d/t1", "one", PLANS["one"], 1) == ""
    assert budget.admit("d/t2", "one", PLANS["one"], 1) != ""
    assert len(watched.alone) > 4  # looked at what is reserved and begun, reserved bases and plan; looked again
    assert all(watched.alone)


@given(st.decimals("0.01", 20, places=2), st.lists(st.decimals(0, 5, places=2), max_size=12))
def test_money_stops_at_the_first_start_after_the_limit_and_never_before(
    limit: Decimal, prices: Sequence[Decimal]
) -> None:
    store = MemoryStore()
    budget = _budget(store, Caps(decimal_text(limit)))
    paid = Decimal(0)
    for number, price in enumerate(prices):
        request, digest = _asked(store, "rollout", HOME, f"l{number}")
        why = budget.may_start(Wanted(request, digest, Group("rollout", "")))
        assert bool(why) is (paid >= limit), why
        if why:
            return
        _befall(store, Course("rollout", HOME, (), True, decimal_text(price)), f"l{number}")
        paid += price


@given(st.sampled_from(["rollout", "session"]), st.integers(0, 4), st.lists(st.integers(0, 6), max_size=12))
def test_at_a_count_limit_no_other_request_starts_and_what_was_begun_may_begin_again(
    kind: str, limit: int, asked: Sequence[int]
) -> None:
    """Selection and reflection are in no plan's counts, and stop here."""
    store = MemoryStore()
    budget = _budget(store, Caps(None, limit, None) if kind == "rollout" else Caps(None, None, limit))
    begun: set[int] = set()
    for number in asked:
        request, digest = _asked(store, kind, HOME, f"l{number}")
        why = budget.may_start(Wanted(request, digest, Group(kind, "")))
        assert bool(why) is (number not in begun and len(begun) >= limit), why
        begun |= set() if why else {number}


@given(st.decimals("0.01", 30, places=2), st.lists(st.decimals("0.01", 5, places=2), min_size=1, max_size=2))
def test_the_hard_stop_counts_what_is_in_flight_at_the_mean_price(limit: Decimal, prices: Sequence[Decimal]) -> None:
    store = MemoryStore()
    for number, price in enumerate(prices):
        _befall(store, Course("rollout", HOME, (), True, decimal_text(price)), f"l{number}")
    budget, paid = _budget(store, Caps(decimal_text(limit))), sum(prices, Decimal(0))
    for flying in range(5):
        request, digest = _asked(store, "rollout", HOME, f"m{flying}")
        why = budget.may_start(Wanted(request, digest, Group("rollout", "")))
        assert bool(why) is (paid + paid / len(prices) * flying >= limit), why
        if why:
            return


@given(st.decimals("0.01", 30, places=2), st.lists(st.decimals("0.01", 5, places=2), min_size=1, max_size=2))
def test_a_plan_is_admitted_if_its_expected_price_fits_what_was_paid_and_bespoken(
    limit: Decimal, prices: Sequence[Decimal]
) -> None:
    """What was paid may be more than was bespoken: lost attempts, selection and reflection are in no plan's counts."""
    store = MemoryStore()
    for number, price in enumerate(prices):
        _befall(store, Course("rollout", HOME, (), True, decimal_text(price)), f"l{number}")
    budget, plan, paid = _budget(store, Caps(decimal_text(limit))), PLANS["one"], sum(prices, Decimal(0))
    each = paid / len(prices) * plan.rollouts
    for admitted in range(3):
        why = budget.admit(f"d/t{admitted}", "one", plan, 1)
        assert bool(why) is (max(paid, each * admitted) + each > limit), why
        if why:
            return


def test_a_request_that_is_asked_for_again_is_not_in_its_own_way() -> None:
    store = MemoryStore()
    _befall(store, Course("rollout", HOME, (), True, "1"), "l0")
    budget = _budget(store, Caps("2"))
    request, digest = _asked(store, "rollout", HOME, "l1")
    wanted = Wanted(request, digest, Group("rollout", ""))

    assert budget.may_start(wanted) == ""
    assert budget.may_start(wanted) == ""


@pytest.mark.parametrize(("limit", "held"), [("2", True), ("2.01", False)])
def test_what_did_not_tell_its_price_counts_at_the_mean_of_what_did(limit: str, held: bool) -> None:
    store = MemoryStore()
    _befall(store, Course("rollout", HOME, (), True, "1"), "l0")
    _befall(store, Course("session", HOME, (), True, None), "l1")
    request, digest = _asked(store, "rollout", HOME, "l2")

    why = _budget(store, Caps(limit)).may_start(Wanted(request, digest, Group("rollout", "")))

    assert bool(why) is held


def test_corrections_beyond_what_was_reserved_are_taken_too() -> None:
    store = MemoryStore()
    budget = _budget(store, Caps(None, None, 4))
    assert budget.admit("d/t", "agg", PLANS["one"], 1) == ""
    for label in ("inv1", "inv1.fix", "select", "select_fix"):
        _befall(store, Course("session", HOME, (), True, "0"), label)

    assert budget.admit("d/t2", "agg", PLANS["one"], 1) == "--max-sessions 4: 4 are taken, and it needs 1"


HOURS = st.tuples(st.integers(0, 30), st.none() | st.integers(-5, 30))


@given(st.lists(HOURS, max_size=6), st.integers(0, 30))
def test_hours_in_which_several_worked_count_once_and_no_clock_makes_them_more_than_a_limit_allows(
    spans: list[tuple[int, int | None]], now: int
) -> None:
    """Half hours: an attempt may take one hour and ten minutes; its clock may have been put forward or back."""
    store, ticks = MemoryStore(), set()
    for number, (start, length) in enumerate(spans):
        _, digest = _asked(store, "rollout", HOME, f"l{number}")
        store.put("attempt", f"{digest}/0001/started", dump(AttemptStarted(digest, 1, "h", _stamp(start * 30))))
        if length is not None:
            ended = AttemptEnded(digest, 1, Outcome.FINISHED, ended_at=_stamp((start + length) * 30))
            store.put("attempt", f"{digest}/0001/ended", dump(ended))
        ticks |= set(range(start * 30, min(start * 30 + min((length or 0) * 30, 70), now * 30)))

    assert Ledger(Archive(store), {HOME}).worked(_stamp(now * 30)) == len(ticks) * 60
    assert Ledger(Archive(store), {OTHER}).worked(_stamp(now * 30)) == 0


def _stamp(minutes: int) -> str:
    return (datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _budget(store: MemoryStore, caps: Caps) -> Budget:
    archive = Archive(store)
    return Budget(caps, archive, HOME, 1, Ledger(archive, {HOME}), lambda: 0.0)


def _asked(store: MemoryStore, kind: str, namespace: str, label: str) -> tuple[Request, Digest]:
    draw, channel = f"{namespace}/d/t/{label}", Channel()
    request: Request
    if kind == "rollout":
        request = RolloutRequest("jb", "d/t", DIGEST, "oc", DIGEST, channel, {}, draw)
    else:
        request = SessionRequest(
            "jb", "d/t", DIGEST, "oc", "improver", "inv", "p", channel, {}, "mission", DIGEST, None, draw
        )
    data = encode_request(request)
    store.put_blob(data)
    return request, digest_bytes(data)


def _befall(store: MemoryStore, course: Course, label: str) -> None:
    _, digest = _asked(store, course.kind, course.namespace, label)
    for price in course.lost:
        ordinal = attempts.begin(store, digest)
        usage = None if price is None else Usage(price, source="stream")
        attempts.end(store, digest, ordinal, Outcome.LOST, "network", usage=usage)
    ordinal = attempts.begin(store, digest)  # without an end: it was killed
    if course.ended:
        usage = Usage(course.price, source="stream")
        made = (
            Rollout(digest, Outcome.FINISHED, usage=usage)
            if course.kind == "rollout"
            else Reply(Outcome.FINISHED, usage=usage, request=digest)
        )
        store.put(course.kind, digest, dump(made))
        attempts.end(store, digest, ordinal, Outcome.FINISHED)
