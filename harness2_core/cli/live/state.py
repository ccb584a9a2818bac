"""What a live view knows of a sweep: a value, folded from its events one by one.

Events may be missing (whoever lags behind loses some) or come from a process that was killed: nothing here relies on
their order, and a fact that cannot be read counts as one that is not there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Final

from attrs import evolve, field, frozen

from harness2_core.model.canonical import Digest, Json
from harness2_core.model.events import Happened

QUEUED: Final = "queued"
RUNNING: Final = "running"
WAITING: Final = "waiting"
ELSEWHERE: Final = "elsewhere"

STARTS: Final = ("sweep-started", "judging-started", "reselecting-started")
"""Events that begin something new."""
_STATES: Final = {
    "attempt-queued": QUEUED,
    "attempt-elsewhere": ELSEWHERE,
    "attempt-started": RUNNING,
    "attempt-waits": WAITING,
    "attempt-lost": WAITING,
}


@frozen
class Piece:
    """One request on its way. `since`, `until`: seconds since the epoch; `usd`: what its lost attempts have cost."""

    state: str
    since: float
    step: str
    task: str
    mode: str
    label: str
    kind: str = ""
    role: str = ""
    cause: str = ""
    """Of its last loss."""
    until: float = 0.0
    """When it is asked for again, while it is waiting."""
    usd: Decimal = Decimal(0)


@frozen
class Domain:
    """`tasks` are those to do, in stream order; `before` counts those that were finished when the sweep began."""

    name: str
    tasks: tuple[str, ...] = ()
    before: int = 0


@frozen
class Spend:
    """Of one role: requests that have a record, the known part of their price, how many have none."""

    requests: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0
    model: bool = False
    """Whether a model took part in any."""


@frozen
class State:
    """`steps` and `slots` are 0 while nothing has said how many there are."""

    namespace: str = ""
    doing: str = ""
    """`sweep`, `judging` or `reselecting`; empty before it has begun."""
    began: float = 0.0
    latest: float = 0.0
    """When the last event happened."""
    exit: int | None = None
    """The exit code, once a sweep has ended."""
    steps: int = 0
    steps_done: int = 0
    slots: int = 0
    modes: Mapping[str, str] = field(factory=dict)
    """Token -> name."""
    domains: tuple[Domain, ...] = ()
    partly: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Task -> the modes it still had to do, where those were not all."""
    opened: tuple[str, ...] = ()
    """Tasks that are being worked on, in the order in which they began."""
    finished: frozenset[str] = frozenset()
    based: frozenset[str] = frozenset()
    """Opened tasks whose bases are there."""
    viewing: frozenset[tuple[str, str]] = frozenset()
    """(task, mode) of opened tasks that have got beyond waiting for the task before."""
    closed: frozenset[tuple[str, str]] = frozenset()
    """(task, mode) that are through."""
    pieces: Mapping[Digest, Piece] = field(factory=dict)
    spent: Mapping[str, Spend] = field(factory=dict)
    losses: Mapping[str, int] = field(factory=dict)
    """Cause -> attempts lost by it."""
    held: Mapping[str, int] = field(factory=dict)
    """Reason -> steps that may not begin for it."""

    def after(self, event: Happened) -> State:
        """The state once `event` has happened. A sweep that begins starts a new one."""
        at = seconds(event.at) or self.latest
        if event.what in STARTS:
            return _begun(event, at)
        now = evolve(self, latest=max(self.latest, at))
        match event.what:
            case "step-started":
                return now._step_started(event)
            case "step-ended":
                return now._step_ended(event)
            case "step-held":
                why = event.facts.get("why", "")
                return evolve(now, held=_counted(self.held, why), pieces=_without(self.pieces, event.request))
            case "attempt-ended":
                return now._attempt_ended(event)
            case "sweep-ended":
                return evolve(now, exit=_whole(event.facts.get("exit", ""), 0), pieces={})
            case word if word in _STATES:
                return now._moved(event, _STATES[word], at)
        return now

    @property
    def tasks_done(self) -> tuple[int, int]:
        """How many tasks are finished, now or before, of how many."""
        before = sum(domain.before for domain in self.domains)
        return before + len(self.finished), before + sum(len(domain.tasks) for domain in self.domains)

    def in_state(self, state: str) -> tuple[Piece, ...]:
        """Requests in that state, the oldest first."""
        return tuple(sorted((piece for piece in self.pieces.values() if piece.state == state), key=lambda p: p.since))

    def waits_for(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """(task, earlier task, modes): the task's bases are there, and these modes must adopt on the earlier one."""
        for domain in self.domains:
            for before, task in pairwise(domain.tasks):
                modes = self.partly.get(task, tuple(self.modes)) if task in self.based else ()
                waiting = (mode for mode in modes if (task, mode) not in self.viewing)
                if found := tuple(mode for mode in waiting if (before, mode) not in self.closed):
                    yield task, before, found

    def _step_started(self, event: Happened) -> State:
        if event.kind == "view":
            return evolve(self, viewing=self.viewing | {(event.task, event.mode)})
        if event.kind == "open" or event.task in self.opened or event.task in self.finished:
            return self
        return evolve(self, opened=(*self.opened, event.task))

    def _step_ended(self, event: Happened) -> State:
        now = evolve(self, steps_done=self.steps_done + 1)
        match event.kind:
            case "bases":
                return evolve(now, based=self.based | {event.task})
            case "close":
                return evolve(now, closed=self.closed | {(event.task, event.mode)})
            case "finish":
                return evolve(
                    now,
                    finished=self.finished | {event.task},
                    opened=tuple(task for task in self.opened if task != event.task),
                    based=self.based - {event.task},
                    viewing=frozenset(pair for pair in self.viewing if pair[0] != event.task),
                )
        return now

    def _moved(self, event: Happened, state: str, at: float) -> State:
        former = self.pieces.get(event.request, Piece(state, at, event.kind, event.task, event.mode, event.label))
        facts = event.facts
        piece = evolve(
            former,
            state=state,
            since=at,
            kind=facts.get("kind", former.kind),
            role=facts.get("role", former.role),
            label=facts.get("draw", former.label),
            cause=facts.get("cause", former.cause),
            until=at + _whole(facts.get("seconds", ""), 0) if event.what == "attempt-waits" else 0.0,
            usd=_amount(facts.get("usd")) or former.usd,
        )
        losses = _counted(self.losses, piece.cause) if event.what == "attempt-lost" else self.losses
        return evolve(self, pieces={**self.pieces, event.request: piece}, losses=losses)

    def _attempt_ended(self, event: Happened) -> State:
        now = evolve(self, pieces=_without(self.pieces, event.request))
        role = event.facts.get("role", "")
        if not role:
            return now
        former, usd = self.spent.get(role, Spend()), _amount(event.facts.get("usd"))
        spend = Spend(
            former.requests + 1,
            former.usd + (usd or 0),
            former.unpriced + (usd is None),
            former.model or event.facts.get("source") != "none",
        )
        return evolve(now, spent={**self.spent, role: spend})


def seconds(at: str) -> float:
    """An event's time in seconds since the epoch; 0 for none."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _begun(event: Happened, at: float) -> State:
    facts = event.facts
    modes, stream, partly = (_json(facts.get(name, "")) for name in ("modes", "stream", "partly"))
    return State(
        namespace=facts.get("namespace", ""),
        doing=event.what.removesuffix("-started"),
        began=at,
        latest=at,
        steps=_whole(facts.get("steps", ""), 0),
        slots=_whole(facts.get("slots", ""), 0),
        modes=dict(_pairs(modes)),
        domains=tuple(_domains(stream)),
        partly={task: _texts(tokens) for task, tokens in partly.items()} if isinstance(partly, dict) else {},
    )


def _pairs(data: Json) -> Iterator[tuple[str, str]]:
    for item in data if isinstance(data, list) else ():
        match item:
            case [str(token), str(name)]:
                yield token, name


def _domains(data: Json) -> Iterator[Domain]:
    for item in data if isinstance(data, list) else ():
        match item:
            case {"domain": str(name), "tasks": list(tasks), "before": int(before)}:
                yield Domain(name, _texts(tasks), before)


def _texts(data: Json) -> tuple[str, ...]:
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, list) else ()


def _json(text: str) -> Json:
    try:
        data: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data


def _whole(text: str, other: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else other


def _amount(text: str | None) -> Decimal | None:
    try:
        amount = Decimal(text) if text else None
    except InvalidOperation:
        return None
    return amount if amount is not None and amount.is_finite() else None


def _counted(counts: Mapping[str, int], key: str) -> dict[str, int]:
    return {**counts, key: counts.get(key, 0) + 1}


def _without(pieces: Mapping[Digest, Piece], request: Digest) -> Mapping[Digest, Piece]:
    return {key: piece for key, piece in pieces.items() if key != request}
