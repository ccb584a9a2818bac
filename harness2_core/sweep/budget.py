"""Budgets: a mode of a task is begun only if all of it fits, and at the limit nothing more starts.

Counts are reserved in the store before a (task, mode) begins, so that two processes cannot both take the last place.
Money is held back by expectation: means of what was paid so far. No budget is ever told to a model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from attrs import field, frozen

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import canonical
from harness2_core.model.check import a_decimal, at_least, optional
from harness2_core.model.namespace import Namespace
from harness2_core.model.plan import BASE, Plan
from harness2_core.work import attempts

from .archive import Archive
from .ledger import Ledger, Need, Spent, price_of
from .locking import locked
from .steps import Wanted

KIND: Final = "reservation"
_NOTHING: Final = Need(0, 0)


@frozen
class Caps:
    """Limits of the experiment over all invocations and processes. `hours` are those in which anything of it ran."""

    usd: str | None = field(default=None, validator=optional(a_decimal))
    rollouts: int | None = field(default=None, validator=optional(at_least(0)))
    sessions: int | None = field(default=None, validator=optional(at_least(0)))
    hours: str | None = field(default=None, validator=optional(a_decimal))

    @property
    def counted(self) -> bool:
        return self.rollouts is not None or self.sessions is not None

    @property
    def none(self) -> bool:
        return not self.counted and self.usd is None and self.hours is None


class Budget:
    """Asked by node bodies and before each request; safe for threads and processes."""

    def __init__(
        self, caps: Caps, archive: Archive, home: str, k: int, ledger: Ledger, now: Callable[[], float]
    ) -> None:
        self._caps = caps
        self._archive = archive
        self._home = home
        self._k = k
        self._ledger = ledger
        self._now = now
        self._began, self._began_at = now(), attempts.utc_now()
        self._seconds_before: int | None = None
        """For how long others, and earlier runs, had worked when this one began; asked for when it first matters."""
        self._one_by_one = threading.Lock()
        self._known: dict[str, Need] = {}
        """Reservations read so far: they never change."""
        self._ours: set[str] = set()
        """Reservations that this invocation works on."""

    def admit(self, task: str, mode: str, plan: Plan, attempt: int, besides: int = 0) -> str:
        """Reserves all of a mode of a task, with the task's bases; the reason when it does not fit, else empty.

        `besides`: sessions that selection and reflection are going to ask for.
        """
        suffix = f".a{attempt}" if attempt > 1 else ""
        parts = {
            f"{task}/{BASE}{suffix}": Need(self._k, 0),
            f"{task}/{mode}{suffix}": Need(len(plan.rolls), plan.sessions + besides),
        }
        if self._ours.issuperset(parts):
            return ""
        if self._caps.none:  # still written: a limit that a later run sets counts this too
            for name in parts.keys() - self._ours:
                self._reserve(name, parts[name])
            self._ours.update(parts)
            return ""
        with locked(self._archive.store, f"budget {self._home}"):
            reserved = self._reserved()
            new = {name: need for name, need in parts.items() if name not in reserved}
            why = self._does_not_fit(new.values(), reserved)
            if why and not new:  # reserved by a run with other limits, with more than these allow
                why = self._has_no_room_to_go_on(self._ours | set(parts), reserved)
            if why:
                return why
            for name, need in new.items():
                self._reserve(name, need)
            self._ours.update(parts)
            return ""

    def may_start(self, wanted: Wanted) -> str:
        """Why this request may not start: known spending, with what is in flight, has reached a limit."""
        with self._one_by_one:  # two preparing threads must not both take the last place
            return self._may_start(wanted)

    def _may_start(self, wanted: Wanted) -> str:
        caps = self._caps
        if caps.hours is not None:
            if self._seconds_before is None:
                self._seconds_before = self._ledger.worked(self._began_at)
            if self._seconds_before + Decimal(self._now() - self._began) >= Decimal(caps.hours) * 3600:
                before = f", {self._seconds_before / 3600:.2f} before this run" if self._seconds_before else ""
                return f"--max-hours {caps.hours} is used up{before}"
        if not caps.counted and caps.usd is None:
            return ""
        spent = self._ledger.spent(but=wanted.digest)
        kind, again = wanted.group.kind, self._ledger.has_begun(wanted.digest)  # a killed or lost one is counted once
        if not again and kind == "rollout" and caps.rollouts is not None and spent.rollouts >= caps.rollouts:
            return f"--max-rollouts {caps.rollouts} is used up"
        if not again and kind == "session" and caps.sessions is not None and spent.sessions >= caps.sessions:
            return f"--max-sessions {caps.sessions} is used up"
        if caps.usd is not None and spent.unpriced and not _guessed(spent) and not caps.counted:
            return (
                f"--max-usd {caps.usd} cannot hold: {spent.unpriced} requests did not tell what they cost; "
                "give --max-rollouts or --max-sessions too"
            )
        if caps.usd is not None and _gone(spent) >= Decimal(caps.usd):
            untold = f", {spent.unpriced} requests did not tell what they cost" if spent.unpriced else ""
            return f"--max-usd {caps.usd} is used up: {spent.usd} USD paid{untold}, the rest in flight"
        self._ledger.begin(wanted.digest, wanted.request)
        return ""

    def _does_not_fit(self, wanted: Collection[Need], reserved: Mapping[str, Need]) -> str:
        """Why what is reserved, or was begun beyond it (a correction, another vote), leaves no room for `wanted`."""
        caps, begun = self._caps, self._ledger.begun()
        places = _by_place(reserved)
        taken = _sum(_most(places.get(place, _NOTHING), begun.get(place, _NOTHING)) for place in {*places, *begun})
        need = _sum(wanted)
        for what, cap, wants, held in _counts(caps, need, taken):
            if held + wants > cap:
                return f"--max-{what} {cap}: {held} are taken, and it needs {wants}"
        if caps.usd is not None:
            spent = self._ledger.spent()
            bespoken = max(_gone(spent), price_of(_sum(reserved.values()), spent.mean_usd))
            return _beyond(caps.usd, bespoken, price_of(need, spent.mean_usd))
        return ""

    def _has_no_room_to_go_on(self, names: Collection[str], reserved: Mapping[str, Need]) -> str:
        """As above of what is left of `names`, whatever else is reserved: nobody may ever come to work on that."""
        caps, begun = self._caps, self._ledger.begun()
        places = _by_place({name: reserved[name] for name in names})
        left = _sum(_less(need, begun.get(place, _NOTHING)) for place, need in places.items())
        for what, cap, wants, held in _counts(caps, left, _sum(begun.values())):
            if held + wants > cap:
                return f"--max-{what} {cap}: {held} are begun, and what is left needs {wants}"
        if caps.usd is not None:
            spent = self._ledger.spent()
            return _beyond(caps.usd, _gone(spent), price_of(left, spent.mean_usd))
        return ""

    def _reserved(self) -> dict[str, Need]:
        """All reservations of the experiment: they are made with and without limits, so that later ones hold too."""
        store, prefix = self._archive.store, f"{self._home}/"
        for key, _ in store.scan(KIND):
            name = key.removeprefix(prefix)
            data = store.get(KIND, key) if key.startswith(prefix) and name not in self._known else None
            if data is not None:
                held = json.loads(data)
                self._known[name] = Need(held["rollouts"], held["sessions"])
        return self._known

    def _reserve(self, name: str, need: Need) -> None:
        value = canonical({"rollouts": need.rollouts, "sessions": need.sessions})
        self._archive.store.put(KIND, f"{self._home}/{name}", value)


def has_begun(store: Store, home: Namespace, task: str) -> bool:
    """Whether any process has begun this task: its bases' places are reserved first of all."""
    return store.get(KIND, f"{home}/{task}/{BASE}") is not None


def _by_place(reserved: Mapping[str, Need]) -> dict[str, Need]:
    """Task and mode, or task and `base` -> what all attempts at it have reserved."""
    places: dict[str, Need] = {}
    for name, need in reserved.items():
        task, _, part = name.rpartition("/")
        place = f"{task}/{part.partition('.')[0]}"
        places[place] = _sum((places.get(place, _NOTHING), need))
    return places


def _sum(needs: Iterable[Need]) -> Need:
    rollouts = sessions = 0
    for need in needs:
        rollouts += need.rollouts
        sessions += need.sessions
    return Need(rollouts, sessions)


def _most(one: Need, other: Need) -> Need:
    return Need(max(one.rollouts, other.rollouts), max(one.sessions, other.sessions))


def _less(need: Need, begun: Need) -> Need:
    return Need(max(need.rollouts - begun.rollouts, 0), max(need.sessions - begun.sessions, 0))


def _counts(caps: Caps, need: Need, taken: Need) -> Iterator[tuple[str, int, int, int]]:
    """What is limited, the limit, what is wanted, what is taken."""
    if caps.rollouts is not None:
        yield "rollouts", caps.rollouts, need.rollouts, taken.rollouts
    if caps.sessions is not None:
        yield "sessions", caps.sessions, need.sessions, taken.sessions


def _beyond(usd: str, taken: Decimal, expected: Decimal) -> str:
    if taken + expected <= Decimal(usd):
        return ""
    return f"--max-usd {usd}: {taken:.4f} USD are paid or bespoken, and it may take {expected:.4f}"


def _gone(spent: Spent) -> Decimal:
    """What is paid, what is in flight, and what did not tell its price: these two at the highest mean known."""
    return spent.usd + _highest(spent) * spent.in_flight + _guessed(spent)


def _guessed(spent: Spent) -> Decimal:
    return _highest(spent) * spent.unpriced


def _highest(spent: Spent) -> Decimal:
    return max(spent.mean_usd.values(), default=Decimal(0))
