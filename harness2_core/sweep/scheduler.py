"""The scheduler: one thread that never computes, renders, reads a blob or waits on a lock.

It starts nodes whose needs exist, hands their reading and building to the preparation pool (one advance in flight for
each node), and paid work to the engine within the slots, longest expected way first. It passes digests on and knows
nothing of what they mean. All waiting is on the engine's clock.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar

from attrs import define, field

from harness2_core.api.engine import outcome_of
from harness2_core.api.runtime import Call, Engine, Work
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest

from .dataflow import Dataflow
from .graph import Key, Node
from .paths import Paths
from .preparers import Finish, Preparers
from .slots import Group, Limits, Slots
from .steps import Admitted, Claim, Done, Held, Preparation, Repeat, Wanted, Wants
from .stop import Stop
from .waiting import Item, Waiting

R = TypeVar("R")
T = TypeVar("T")

POLL_SECONDS: Final = 0.05
"""How long a finished future may lie unseen, and a free slot unused, while something is being prepared."""
ELSEWHERE_SECONDS: Final = 1.0
"""How often a request that another process has claimed is looked for, on the engine's clock."""
STOP_SECONDS: Final = 0.5
"""How often a stop is looked for while only engine work runs."""

Notify: TypeAlias = Callable[[str, Key, Digest, str], None]
"""Told what happened to which node, to which request, and a short fact: see `telling.py`. Must not block."""


@define
class Outcome(Generic[R]):
    """How the scheduling ended: each finished task's last result, and what was left undone, with the reason."""

    results: dict[Key, R] = field(factory=dict)
    held: dict[Key, str] = field(factory=dict)
    stopped: str = ""
    """Why everything was stopped by the policy table, if it was."""
    barred: list[str] = field(factory=list)
    """Models of which nothing more was begun, and why."""
    paid: int = 0
    """Requests that ran here."""


class Scheduler(Generic[R]):
    """One sweep's scheduler; `run` is called once, from one thread."""

    def __init__(
        self,
        nodes: Mapping[Key, Node],
        preparation: Preparation[R],
        engine: Engine,
        call: Call,
        limits: Limits,
        stop: Stop,
        notify: Notify,
    ) -> None:
        self._nodes = nodes
        self._prepare = preparation
        self._engine = engine
        self._call = call
        self._slots = Slots(limits)
        self._stop = stop
        self._notify = notify
        self._paths = Paths(nodes)
        self._flow: Dataflow[R] = Dataflow(nodes)
        self._open: dict[Key, int] = {}
        """Node -> how many of its wanted requests have no record yet."""
        self._waiting = Waiting(nodes, self._paths)
        self._running: dict[Work, tuple[tuple[Item, ...], float]] = {}
        self._claimed: set[Item] = set()
        self._barred: set[str] = set()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._counter = itertools.count()
        self._preparing = 0
        self._advancing = 0
        """Nodes being taken further: what they will want may be more urgent than what waits, so slots wait a moment."""
        self._dispatched = 0.0
        self._killed = False
        self._leaving = False
        """`run` is being left by an error of its own: nothing is prepared any more."""
        self._error: Exception | None = None
        self._outcome: Outcome[R] = Outcome()

    def run(self) -> Outcome[R]:
        """Works until nothing more can be done. The first error of the preparation stops it, and is raised when what
        runs has been seen out: it is paid for."""
        with Preparers() as self._pool:
            try:
                for key in self._flow.first():
                    self._start(key)
                while self._step():
                    pass
            finally:
                self._release()
        if self._error is not None:
            raise self._error
        return self._outcome

    # -- one turn of the loop

    def _step(self) -> bool:
        """Handles what has happened, starts what can start, waits once; False when there is nothing to wait for."""
        if self._stop.level >= 2 and not self._killed:
            self._kill()
        self._fire()
        if not self._advancing or time.monotonic() - self._dispatched >= POLL_SECONDS:
            self._dispatch()
            self._dispatched = time.monotonic()
        if self._preparing:
            for finish in self._pool.finished(POLL_SECONDS):
                self._finish(finish)
            self._collect(0)
        elif self._running or (self._timers and not self._stopping):
            self._collect(self._patience())
        else:
            return False
        return True

    @property
    def _stopping(self) -> bool:
        return self._stop.level > 0 or bool(self._outcome.stopped) or self._error is not None or self._leaving

    def _patience(self) -> float:
        due = self._timers[0][0] - self._engine.now() if self._timers else STOP_SECONDS
        return max(0.0, min(due, STOP_SECONDS))

    def _fire(self) -> None:
        while self._timers and self._timers[0][0] <= self._engine.now():
            heapq.heappop(self._timers)[2]()

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self._engine.now() + seconds, next(self._counter), act))

    def _in_pool(self, call: Callable[[], T], then: Callable[[T], None]) -> None:
        """Runs `call` on the pool and `then` with its result back here; the first error of either is kept."""
        if self._leaving:
            return
        self._preparing += 1
        self._pool.submit(call, then)

    def _finish(self, finish: Finish) -> None:
        self._preparing -= 1
        try:
            finish()
        except Exception as error:
            self._error = self._error or error

    # -- nodes

    def _start(self, key: Key) -> None:
        results = self._flow.results(key.task)
        self._notify("step-started", key, "", "")
        self._advancing += 1
        self._in_pool(lambda: self._prepare.start(key, results), lambda advance: self._advanced(key, advance))

    def _advanced(self, key: Key, advance: Wants | Done[R] | Held) -> None:
        self._advancing -= 1
        match advance:
            case Done(result):
                self._finished(key, result)
            case Held(why):
                self._outcome.held[key] = why
                self._notify("step-held", key, "", why)
            case Wants(missing):
                self._open[key] = len(missing)
                for wanted in missing:
                    self._enqueue(Item(wanted, key))
                if not missing:
                    self._resume(key)

    def _resume(self, key: Key, claim: Claim | None = None) -> None:
        """Takes a node further, after giving back the claim of what it waited for last, in one go."""
        if claim is not None and self._leaving:
            claim.__exit__(None, None, None)
            return

        def further() -> Wants | Done[R] | Held:
            if claim is not None:
                claim.__exit__(None, None, None)
            return self._prepare.resume(key)

        self._advancing += 1
        self._in_pool(further, lambda advance: self._advanced(key, advance))

    def _finished(self, key: Key, result: R) -> None:
        ready = self._flow.finish(key, result)
        if self._flow.is_through(key.task):
            self._outcome.results[key] = result
        self._notify("step-ended", key, "", "")
        for other in ready:
            self._start(other)

    # -- paid work

    def _enqueue(self, item: Item) -> None:
        self._waiting.put(item)
        self._notify("attempt-queued", item.key, item.wanted.digest, item.wanted.group.kind)

    def _dispatch(self) -> None:
        """Takes slots for the most urgent work and lets the pool claim it."""
        while not self._stopping:
            items = self._waiting.take(self._free)
            if not items:
                return
            self._slots.take(items[0].wanted.group, len(items))
            wanted = tuple(item.wanted for item in items)

            def begun(begun: tuple[tuple[Admitted, ...], Assignment], items: tuple[Item, ...] = items) -> None:
                self._admitted(items, *begun)

            if all(item.claim is not None for item in items):  # a repeated attempt: its claim is still held
                self._repeat(items)
            else:
                self._in_pool(lambda wanted=wanted: self._begin(wanted), begun)  # type: ignore[misc]

    def _free(self, group: Group) -> int:
        return 0 if group.model in self._barred else self._slots.free(group)

    def _begin(self, wanted: tuple[Wanted, ...]) -> tuple[tuple[Admitted, ...], Assignment]:
        """On the pool, in one go: claims, and the assignment of what is claimed."""
        admitted = self._prepare.admit(wanted)
        mine = tuple(item for item, answer in zip(wanted, admitted, strict=True) if answer.state == "claimed")
        try:
            return admitted, self._prepare.assignment(mine)
        except Exception:
            for answer in admitted:
                if answer.claim is not None:
                    answer.claim.__exit__(None, None, None)
            raise

    def _admitted(self, items: tuple[Item, ...], admitted: tuple[Admitted, ...], work: Assignment) -> None:
        mine = []
        for item, answer in zip(items, admitted, strict=True):
            if answer.state == "claimed":
                item.claim = answer.claim
                self._claimed.add(item)
                mine.append(item)
                continue
            self._slots.give_back(item.wanted.group)
            if answer.state == "served":
                self._recorded(item)
            elif answer.state == "held":
                self._hold(item, answer.why)
            else:
                self._notify("attempt-elsewhere", item.key, item.wanted.digest, item.wanted.group.kind)
                self._park(item)
        if mine:
            self._submit(tuple(mine), work)

    def _park(self, item: Item) -> None:
        """Another process has it: its record, or its claim, is looked for now and then, without a slot."""

        def looked(admitted: tuple[Admitted, ...]) -> None:
            (answer,) = admitted
            match answer.state:
                case "served":
                    self._recorded(item)
                case "claimed":  # its owner died: it is ours now, and goes when a slot is free
                    item.claim = answer.claim
                    self._claimed.add(item)
                    self._enqueue(item)
                case "held":
                    self._hold(item, answer.why)
                case _:
                    self._park(item)

        def look() -> None:
            self._in_pool(lambda: self._prepare.admit((item.wanted,)), looked)

        self._after(ELSEWHERE_SECONDS, look)

    def _repeat(self, items: tuple[Item, ...]) -> None:
        wanted = tuple(item.wanted for item in items)

        def ready(work: Assignment | Held) -> None:
            if isinstance(work, Assignment):
                self._submit(items, work)
                return
            for item in items:
                self._slots.give_back(item.wanted.group)
                self._let_go(item)
                self._hold(item, work.why)

        self._in_pool(lambda: self._prepare.repeat(wanted), ready)

    def _submit(self, items: tuple[Item, ...], work: Assignment) -> None:
        if self._stopping:  # asked for while this was prepared
            for item in items:
                self._slots.give_back(item.wanted.group)
                self._let_go(item)
                self._enqueue(item)
            return
        future = self._engine.submit(self._call, work)
        self._running[future] = (items, self._engine.now())
        self._outcome.paid += len(items)
        for item in items:
            self._notify("attempt-started", item.key, item.wanted.digest, "")

    def _collect(self, seconds: float) -> None:
        for future in self._engine.wait(seconds):
            if future not in self._running:  # reported once more: an engine's fault, and nobody's harm
                continue
            items, began = self._running.pop(future)
            by_digest = {item.wanted.digest: item for item in items}
            for ended in outcome_of(future, tuple(by_digest)):
                item = by_digest[ended.request]
                self._slots.give_back(item.wanted.group)
                if ended.final:
                    paid = self._nodes[item.key].paid
                    if paid and self._paths.learn(paid, self._engine.now() - began):
                        self._waiting.reorder()
                    self._recorded(item)
                else:
                    self._lost(item, ended)

    def _lost(self, item: Item, ended: Ended) -> None:
        self._notify("attempt-lost", item.key, item.wanted.digest, ended.cause)
        if self._stopping:  # cancelled, or about to end: the same command takes it up again
            self._let_go(item)
            return
        item.losses[ended.cause] = item.losses.get(ended.cause, 0) + 1

        def decided(repeat: Repeat) -> None:
            if repeat.what == "again":
                self._notify("attempt-waits", item.key, item.wanted.digest, f"{repeat.seconds:.0f}")
                self._after(repeat.seconds, lambda: self._enqueue(item))
                return
            if repeat.what == "dead":
                self._recorded(item)
                return
            self._let_go(item)
            if repeat.what == "held":
                self._hold(item, repeat.why)
                return
            if repeat.what == "stop-model":
                self._barred.add(item.wanted.group.model)
                self._outcome.barred.append(f"nothing more of model {item.wanted.group.model!r}: {repeat.why}")
                self._hold(item, repeat.why)
                return
            self._outcome.stopped = self._outcome.stopped or repeat.why
            self._hold(item, self._outcome.stopped)  # of several that were lost at once too: one reason, and no budget

        self._in_pool(lambda: self._prepare.lost(item.wanted, ended, item.losses[ended.cause]), decided)

    def _recorded(self, item: Item) -> None:
        self._notify("attempt-ended", item.key, item.wanted.digest, "")
        self._open[item.key] -= 1
        if self._open[item.key]:
            self._let_go(item)
        else:
            self._resume(item.key, self._taken_from(item))

    def _hold(self, item: Item, why: str) -> None:
        self._outcome.held[item.key] = why
        self._notify("step-held", item.key, item.wanted.digest, why)

    # -- the end

    def _let_go(self, item: Item) -> None:
        """Gives a claim back, on the pool: a store may take its time over that."""
        claim = self._taken_from(item)
        if claim is not None and self._leaving:
            claim.__exit__(None, None, None)
        elif claim is not None:
            self._in_pool(lambda: claim.__exit__(None, None, None), lambda _: None)

    def _taken_from(self, item: Item) -> Claim | None:
        claim, item.claim = item.claim, None
        self._claimed.discard(item)
        return claim

    def _kill(self) -> None:
        self._killed = True
        for items, _ in self._running.values():
            for item in items:
                self._engine.cancel(item.wanted.digest)

    def _release(self) -> None:
        """Gives every claim back; after an error, ends what runs first: a claim is given back for ended work only."""
        self._leaving = True
        try:
            if self._running:
                self._kill()
            while self._running:
                for future in self._engine.wait(STOP_SECONDS):
                    self._running.pop(future, None)
            self._pool.close()  # not by count: an interrupt may have come between a count and its work
            for finish in self._pool.finished(0):
                self._finish(finish)
        finally:
            for item in tuple(self._claimed):
                self._let_go(item)
