"""Everything the scheduler does not do itself: reading, building, claiming, writing, on the threads of `preparers.py`.

A node's body is a generator over the study: it yields requests, is sent their digests once all of them have records,
and finds those in the archive. It is deterministic, so a resume starts it anew and finished requests are served from
the store.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Generic, TypeAlias, TypeVar

from attrs import evolve

from harness2_core.api.adapters import OwnsRuntime
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest, canonical, digest_bytes
from harness2_core.model.channel import Outcome
from harness2_core.model.records import Grade, Reply, Rollout
from harness2_core.model.requests import (
    GradeRequest,
    Request,
    RolloutRequest,
    SessionRequest,
    encode_request,
    kind_of,
)
from harness2_core.model.serial import dump, plain
from harness2_core.work import attempts, policy
from harness2_core.work.wholeness import is_whole

from .graph import Key
from .slots import group_of
from .steps import Admitted, Done, Held, Repeat, Wanted, Wants
from .study import Study

R = TypeVar("R")

Body: TypeAlias = Generator[tuple[Request, ...], tuple[Digest, ...], R]
"""Of a node, or of a part of one: asks, is sent the digests of what it asked for, and comes to a result."""
Admission: TypeAlias = Callable[[Wanted], str]
"""Why a request may not start (a budget is used up), or an empty text."""


class Prepare(Generic[R]):
    """`body` makes a node's generator from the study, its key and its task's results so far.

    `started` is filled with every request that was handed to the engine, without the texts of missions: what they cost
    and whose they are is asked to the end of the sweep, and ten thousand missions would fill the memory.
    """

    def __init__(
        self,
        study: Study,
        body: Callable[[Study, Key, Mapping[Key, R]], Body[R | Held]],
        admission: Admission,
        started: dict[Digest, Request],
    ) -> None:
        self._study = study
        self._batches = isinstance(study.adapter, OwnsRuntime)
        self._body = body
        self._admission = admission
        self._started = started
        self.former: dict[Digest, int] = {}
        """Started request -> attempts at it that were begun before: by killed runs, or by other processes."""
        self._running: dict[Key, tuple[Body[R | Held], tuple[Digest, ...] | None]] = {}
        """Node -> its body, and the digests it is to be sent; `None` before its first step."""

    def start(self, key: Key, results: Mapping[Key, R]) -> Wants | Done[R] | Held:
        self._running[key] = (self._body(self._study, key, results), None)
        return self.resume(key)

    def resume(self, key: Key) -> Wants | Done[R] | Held:
        body, digests = self._running[key]
        while True:
            try:
                requests = next(body) if digests is None else body.send(digests)
            except StopIteration as end:
                del self._running[key]
                return end.value if isinstance(end.value, Held) else Done(end.value)
            encoded = [(request, encode_request(request)) for request in requests]
            digests = tuple(digest_bytes(data) for _, data in encoded)
            missing = tuple(
                self._wanted(request, data)
                for (request, data), digest in zip(encoded, digests, strict=True)
                if not self._served(request, data, digest)
            )
            if missing:
                self._running[key] = (body, digests)
                return Wants(missing)

    def admit(self, wanted: tuple[Wanted, ...]) -> tuple[Admitted, ...]:
        admitted: list[Admitted] = []
        try:
            for item in wanted:
                admitted.append(self._admit(item))
        except Exception:
            for held in admitted:
                if held.claim is not None:
                    held.claim.__exit__(None, None, None)
            raise
        return tuple(admitted)

    def assignment(self, wanted: tuple[Wanted, ...]) -> Assignment:
        for item in wanted:
            if item.digest not in self._started:
                self.former[item.digest] = len(attempts.attempts_of(self._study.store, item.digest))
                self._started[item.digest] = _without_mission(item.request)
        return self._study.assignment(tuple(item.request for item in wanted))

    def repeat(self, wanted: tuple[Wanted, ...]) -> Assignment | Held:
        for item in wanted:
            if why := self._admission(item):
                return Held(why)
        return self.assignment(wanted)

    def lost(self, wanted: Wanted, ended: Ended, tries: int) -> Repeat:
        kind = kind_of(wanted.request)
        lost = attempts.lost_attempts(self._study.store, wanted.digest, ended.cause)
        decision = policy.decide(kind, ended.cause, max(lost, tries), ended.wait_seconds)
        match decision:
            case policy.Again(seconds):
                why = self._admission(wanted)  # to wait for what will be held is to wait in vain
                return Repeat("held", why=why) if why else Repeat("again", seconds)
            case policy.Halt(scope):
                return Repeat(f"stop-{scope}", why=f"{ended.cause}: {ended.note}")
            case policy.Dead():
                self._bury(wanted, ended)
                return Repeat("dead")

    def _wanted(self, request: Request, data: bytes) -> Wanted:
        digest = self._study.store.put_blob(data)  # for audit: the request can be read beside its result
        batch, together = "", 1
        if isinstance(request, RolloutRequest) and self._batches:
            same = plain(request)
            assert isinstance(same, Mapping)
            batch = digest_bytes(canonical({key: value for key, value in same.items() if key != "draw"}))
            together = self._study.spec.batch
        return Wanted(request, digest, group_of(request), batch, together)

    def _served(self, request: Request, data: bytes, digest: Digest) -> bool:
        if not is_whole(self._study.store, kind_of(request), digest):
            return False
        if not self._study.store.has_blob(digest):
            self._study.store.put_blob(data)
        return True

    def _admit(self, wanted: Wanted) -> Admitted:
        claim = self._study.store.claim(wanted.digest)
        if not claim.__enter__():
            claim.__exit__(None, None, None)
            return Admitted("elsewhere")  # whatever the budgets: it is paid for there
        try:
            served = self._finished(wanted)
            why = "" if served else self._admission(wanted)
        except Exception:
            claim.__exit__(None, None, None)
            raise
        if served or why:
            claim.__exit__(None, None, None)
            return Admitted("held", why=why) if why else Admitted("served")
        return Admitted("claimed", claim)

    def _finished(self, wanted: Wanted) -> bool:
        """Elsewhere, a moment ago. A record that is not whole makes room for another."""
        kind = kind_of(wanted.request)
        if not self._study.archive.has(kind, wanted.digest):
            return False
        if is_whole(self._study.store, kind, wanted.digest):
            return True
        self._study.archive.retire(kind, wanted.digest)
        return False

    def _bury(self, wanted: Wanted, ended: Ended) -> None:
        record: Rollout | Reply | Grade
        if isinstance(wanted.request, RolloutRequest):
            record = Rollout(wanted.digest, Outcome.LOST, cause=ended.cause, note=ended.note)
        elif isinstance(wanted.request, GradeRequest):
            record = Grade(wanted.digest, Outcome.LOST, cause=ended.cause, error=ended.note)
        else:
            record = Reply(Outcome.LOST, request=wanted.digest, cause=ended.cause, notes=(ended.note,))
        self._study.store.put_blob(b"")  # what an empty transcript's entry points to
        self._study.store.put(kind_of(wanted.request), wanted.digest, dump(record))


def _without_mission(request: Request) -> Request:
    return evolve(request, mission="") if isinstance(request, SessionRequest) else request
