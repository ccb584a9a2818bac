"""Budgets: a mode of a task is begun only if all of it fits, and at the limit nothing more starts.

Counts are reserved in the store before a (task, mode) begins, so that two processes cannot both take the last place.
Money is held back by expectation: means of what was paid so far. No budget is ever told to a model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from attrs import field, frozen

from harness2_core.api.runtime import Store
from harness2_core.model.canonical import canonical
from harness2_core.model.check import a_decimal, at_least, optional
from harness2_core.model.namespace import Namespace
from harness2_core.model.plan import Plan

from .archive import Archive
from .ledger import Ledger, Spent
from .locking import locked
from .steps import Wanted

KIND: Final = "reservation"
BASE: Final = "base"


@frozen
class Caps:
    """Limits of the experiment over all invocations and processes; `hours` bounds this invocation."""

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


@frozen
class Need:
    """What a piece of work takes at most by its plan."""

    rollouts: int
    sessions: int


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
        self._began = now()
        self._one_by_one = threading.Lock()
        self._known: dict[str, Need] = {}
        """Reservations read so far: they never change."""

    def admit(self, task: str, mode: str, plan: Plan, attempt: int) -> str:
        """Reserves all of a mode of a task, with the task's bases; the reason when it does not fit, else empty."""
        name = f"{task}/{mode}" + (f".a{attempt}" if attempt > 1 else "")
        base = f"{task}/{BASE}" + (f".a{attempt}" if attempt > 1 else "")
        if self._caps.none:  # still written: a limit that a later run sets counts this too
            self._reserve(base, Need(self._k, 0))
            self._reserve(name, Need(len(plan.rolls), plan.sessions))
            return ""
        with locked(self._archive.store, f"budget {self._home}"):
            reserved = self._reserved()
            if name in reserved:
                return ""
            need = Need(len(plan.rolls) + (0 if base in reserved else self._k), plan.sessions)
            why = self._does_not_fit(need, list(reserved.values()))
            if why:
                return why
            if base not in reserved:
                self._reserve(base, Need(self._k, 0))
            self._reserve(name, Need(len(plan.rolls), plan.sessions))
            return ""

    def may_start(self, wanted: Wanted) -> str:
        """Why this request may not start: known spending, with what is in flight, has reached a limit."""
        with self._one_by_one:  # two preparing threads must not both take the last place
            return self._may_start(wanted)

    def _may_start(self, wanted: Wanted) -> str:
        caps = self._caps
        if caps.hours is not None and Decimal(self._now() - self._began) >= Decimal(caps.hours) * 3600:
            return f"--max-hours {caps.hours} is used up"
        if not caps.counted and caps.usd is None:
            return ""
        spent = self._ledger.spent()
        kind, again = wanted.group.kind, self._ledger.has_begun(wanted.digest)  # a killed or lost one is counted once
        if not again and kind == "rollout" and caps.rollouts is not None and spent.rollouts >= caps.rollouts:
            return f"--max-rollouts {caps.rollouts} is used up"
        if not again and kind == "session" and caps.sessions is not None and spent.sessions >= caps.sessions:
            return f"--max-sessions {caps.sessions} is used up"
        if caps.usd is not None and spent.usd + _flying(spent) >= Decimal(caps.usd):
            return f"--max-usd {caps.usd} is used up: {spent.usd} USD paid, the rest in flight"
        self._ledger.begin(wanted.digest, kind)
        return ""

    def _does_not_fit(self, need: Need, reserved: list[Need]) -> str:
        caps = self._caps
        for what, cap, wanted, held in (
            ("rollouts", caps.rollouts, need.rollouts, sum(item.rollouts for item in reserved)),
            ("sessions", caps.sessions, need.sessions, sum(item.sessions for item in reserved)),
        ):
            if cap is not None and held + wanted > cap:
                return f"--max-{what} {cap}: {held} are taken, and it needs {wanted}"
        if caps.usd is not None:
            spent = self._ledger.spent()
            taken = max(spent.usd + _flying(spent), sum((_expected(spent, item) for item in reserved), Decimal(0)))
            expected = _expected(spent, need)
            if taken + expected > Decimal(caps.usd):
                return f"--max-usd {caps.usd}: {taken:.4f} USD are paid or bespoken, and it may take {expected:.4f}"
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


def _expected(spent: Spent, need: Need) -> Decimal:
    """What it costs at the mean prices seen; nothing while none is known."""
    rollouts = spent.mean_usd.get("rollout", Decimal(0)) * need.rollouts
    return rollouts + spent.mean_usd.get("session", Decimal(0)) * need.sessions


def _flying(spent: Spent) -> Decimal:
    """What the work in flight is expected to cost, at the highest mean known."""
    return max(spent.mean_usd.values(), default=Decimal(0)) * spent.in_flight
