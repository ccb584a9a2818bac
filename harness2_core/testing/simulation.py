"""The scheduler alone, on a virtual clock: every node asks for exactly the paid work that its kind and plan say.

Nothing is read or built, so a whole sweep takes seconds and its makespan is exact. Durations are given by a function of
the request's draw; the scheduler does not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.plan import Plan
from harness2_core.model.requests import Request, RolloutRequest, SessionRequest, request_digest
from harness2_core.sweep.graph import Key, Node, Work, graph, rolls_of
from harness2_core.sweep.scheduler import Outcome, Scheduler
from harness2_core.sweep.slots import Limits, group_of
from harness2_core.sweep.steps import Admitted, Done, Held, Repeat, Wanted, Wants
from harness2_core.sweep.stop import Stop

from .engines import VirtualEngine

_DIGEST: Final = "0" * 64


class Simulation:
    """A preparation (`harness2_core.sweep.steps.Preparation`) and a worker's call, over records in memory."""

    def __init__(self, plans: Mapping[str, Plan], k: int, batch: int = 1) -> None:
        self.plans = plans
        self.k = k
        self.batch = batch
        self.records: set[Digest] = set()
        self.requests: list[Request] = []
        """In the order in which they were handed to the engine."""
        self.elsewhere: dict[str, int] = {}
        """Draw -> how often it is still claimed by another process when asked for."""
        self.losses: dict[str, list[Ended]] = {}
        """Draw -> how its next attempts end."""
        self.holds: dict[Key, str] = {}
        """Node -> the budget that keeps it from starting."""

    @property
    def begun(self) -> list[str]:
        """The draws of `requests`; a stage and the roll of its tree bear one label."""
        return [request.draw for request in self.requests]

    def draws(self, key: Key) -> tuple[str, ...]:
        """The draws that a node asks for."""
        if key.what == "bases":
            return tuple(f"toy-py-agg{self.k}/{key.task}/base{n + 1}" for n in range(self.k))
        prefix = f"toy-py-{key.mode}{self.k}/{key.task}"
        if key.what == "rolls":
            return tuple(f"{prefix}/{label}" for label in rolls_of(self.plans[key.mode])[key.label])
        if key.what in ("stage", "select", "reflect"):
            plan = self.plans[key.mode]
            asked = {"stage": True, "select": len(plan.finals) > 1, "reflect": plan.learns}[key.what]
            return (f"{prefix}/{key.label or key.what}",) if asked else ()
        return ()

    def start(self, key: Key, results: Mapping[Key, str]) -> Wants | Done[str] | Held:
        if key in self.holds:
            return Held(self.holds[key])
        wanted = tuple(self._wanted(key, draw) for draw in self.draws(key))
        missing = tuple(item for item in wanted if item.digest not in self.records)
        return Wants(missing) if missing else Done(str(key))

    def resume(self, key: Key) -> Wants | Done[str] | Held:
        return Done(str(key))

    def admit(self, wanted: tuple[Wanted, ...]) -> tuple[Admitted, ...]:
        return tuple(self._admit(item) for item in wanted)

    def assignment(self, wanted: tuple[Wanted, ...]) -> Assignment:
        self.requests += [item.request for item in wanted]
        return Assignment(tuple(item.request for item in wanted), {}, {}, "memory", "runs")

    def repeat(self, wanted: tuple[Wanted, ...]) -> Assignment | Held:
        return self.assignment(wanted)

    def lost(self, wanted: Wanted, ended: Ended, tries: int) -> Repeat:
        if tries > 3:
            self.records.add(wanted.digest)
            return Repeat("dead")
        return Repeat("again", float(ended.wait_seconds))

    def call(self, work: Assignment) -> tuple[Ended, ...]:
        """What a worker does: an attempt ends as told, else with a record."""
        return tuple(self._perform(request) for request in work.requests)

    def run(
        self,
        nodes: Mapping[Key, Node],
        duration: Callable[[Request], float],
        limits: Limits,
        stop: Stop | None = None,
        notify: Callable[[str, Key, Digest, str], None] | None = None,
    ) -> tuple[Outcome[str], float]:
        """The outcome, and the seconds it took on the virtual clock."""
        engine = VirtualEngine(duration)
        told = notify or (lambda what, key, digest, fact: None)
        outcome = Scheduler(nodes, self, engine, self.call, limits, stop or Stop(), told).run()
        return outcome, engine.now()

    def request(self, key: Key, draw: str) -> Request:
        """The request that a node makes under a draw."""
        if key.what in ("bases", "rolls"):
            return RolloutRequest("toy", key.task, _DIGEST, "py", _DIGEST, Channel("m"), {}, draw)
        return SessionRequest(
            "toy", key.task, _DIGEST, "py", "improver", key.what, "p", Channel("m"), {}, "", _DIGEST, None, draw
        )

    def _wanted(self, key: Key, draw: str) -> Wanted:
        request = self.request(key, draw)
        batch = f"{key.task} {key.label}" if self.batch > 1 and isinstance(request, RolloutRequest) else ""
        return Wanted(request, request_digest(request), group_of(request), batch, self.batch)

    def _admit(self, item: Wanted) -> Admitted:
        draw = item.request.draw
        if item.digest in self.records:
            return Admitted("served")
        if self.elsewhere.get(draw, 0):
            self.elsewhere[draw] -= 1
            if not self.elsewhere[draw]:
                self.records.add(item.digest)  # the other process is done
            return Admitted("elsewhere")
        claim: AbstractContextManager[bool] = nullcontext(True)
        return Admitted("claimed", claim)

    def _perform(self, request: Request) -> Ended:
        digest = request_digest(request)
        planned = self.losses.get(request.draw)
        if planned:
            return planned.pop(0)
        self.records.add(digest)
        return Ended(digest, True)


def stream_of(sizes: Mapping[str, int], plans: Mapping[str, Plan]) -> list[list[Work]]:
    """Domain -> number of tasks, as a graph's stream."""
    return [[Work(f"{domain}/t{number}", domain, plans) for number in range(count)] for domain, count in sizes.items()]


def nodes_of(sizes: Mapping[str, int], plans: Mapping[str, Plan], lookahead: int = 2) -> dict[Key, Node]:
    return graph(stream_of(sizes, plans), lookahead)
