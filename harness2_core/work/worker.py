"""The way into the worker: `perform` does the requests of an assignment and says how each ended.

It never raises for what befell a request. A request whose record is there already is done; so the same assignment may
be given twice. Each try is recorded before it begins and after it ends; only a final outcome is put under the
request's digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from attrs import evolve

from harness2_core.api.adapters import OwnsRuntime
from harness2_core.api.engine import is_cancelled
from harness2_core.api.runtime import Store
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome, Usage
from harness2_core.model.errors import Harness2Error
from harness2_core.model.records import Grade, Reply, Rollout
from harness2_core.model.requests import (
    GradeRequest,
    Request,
    RolloutRequest,
    SessionRequest,
    encode_request,
    kind_of,
    request_digest,
    role_of,
)
from harness2_core.model.serial import dump

from . import attempts
from .context import WorkerContext, bounds_of
from .grade import run_grade
from .installed import providers_for
from .losses import Cancelled, Loss, loss_of
from .providers import Providers
from .rollout import run_batch, run_rollout
from .session import run_session
from .site import close_site, open_site

Record: TypeAlias = Rollout | Reply | Grade


def perform(work: Assignment) -> tuple[Ended, ...]:
    """What an engine calls: the requests of `work`, with what is installed here. One `Ended` a request, in order."""
    try:
        providers = providers_for(work)
    except Exception as error:
        what = (
            f"{error.what} ({error.remedy})" if isinstance(error, Harness2Error) else f"{type(error).__name__}: {error}"
        )
        return tuple(Ended(request_digest(request), False, "worker", 0, what) for request in work.requests)
    return perform_with(work, providers)


def perform_with(work: Assignment, providers: Providers) -> tuple[Ended, ...]:
    """As `perform`, with providers at hand."""
    ended: dict[Digest, Ended] = {}
    missing: list[Request] = []
    for request in work.requests:
        digest = request_digest(request)
        try:
            if providers.store.get(kind_of(request), digest) is not None:
                ended[digest] = Ended(digest, True)
            else:
                missing.append(request)
        except Exception as error:
            ended[digest] = _lost_before(digest, loss_of(error, "the store", providers.store))
    rollouts = tuple(request for request in missing if isinstance(request, RolloutRequest))
    if rollouts and isinstance(providers.adapter, OwnsRuntime):
        missing = [request for request in missing if not isinstance(request, RolloutRequest)]
        ended.update((item.request, item) for item in _perform_batch(work, providers, rollouts))
    for request in missing:
        item = _perform_one(work, providers, request)
        ended[item.request] = item
    return tuple(ended[request_digest(request)] for request in work.requests)


def _perform_one(work: Assignment, providers: Providers, request: Request) -> Ended:
    digest, store = request_digest(request), providers.store
    try:
        ordinal = _begin(store, request)
    except Exception as error:
        return _lost_before(digest, loss_of(error, "the store", store))
    spent: list[Usage] = []
    rewrite: Callable[[str], str] = str
    try:
        with _at_site(work, providers, request, digest, lambda: is_cancelled(work, digest)) as ctx:
            try:
                record = _run(request, ctx)
            except Exception:
                spent += [ctx.usage()] if ctx.began else []
                rewrite = ctx.rewriter().text
                raise
            return _finish(store, request, record, ordinal)
    except Exception as error:
        loss = _priced(loss_of(error, _who(request, providers), store, rewrite), work, request)
        return _lose(store, digest, ordinal, loss, spent)


def _perform_batch(work: Assignment, providers: Providers, requests: tuple[RolloutRequest, ...]) -> Iterator[Ended]:
    """Draws together: whatever ends is recorded as it ends, and what is left over is lost by what ended the batch."""
    store = providers.store
    waiting = {request_digest(request): request for request in requests}
    ordinals: dict[Digest, int] = {}
    digests = tuple(waiting)

    def unwanted() -> bool:
        return all(is_cancelled(work, digest) for digest in digests)

    rewrite: Callable[[str], str] = str
    try:
        for digest, request in waiting.items():
            ordinals[digest] = _begin(store, request)
        first = requests[0]
        with _at_site(work, providers, first, request_digest(first), unwanted) as ctx:
            try:
                for record in run_batch(requests, ctx):
                    yield _finish(store, waiting.pop(record.request), record, ordinals[record.request])
            except Exception:
                rewrite = ctx.rewriter().text
                raise
            if ctx.cancelled():
                raise Cancelled
        loss = Loss("worker", f"{providers.adapter.spec.name} ended without a word on this draw")
    except Exception as error:
        loss = loss_of(error, f"the benchmark {providers.adapter.spec.name}", store, rewrite)
    for digest in waiting:
        yield _lose(store, digest, ordinals[digest], loss, ()) if digest in ordinals else _lost_before(digest, loss)


@contextmanager
def _at_site(
    work: Assignment, providers: Providers, request: Request, key: Digest, cancelled: Callable[[], bool]
) -> Iterator[WorkerContext]:
    site = open_site(Path(work.runs), key)
    bounds = bounds_of(providers.adapter.spec, request.channel, work)
    is_session = isinstance(request, SessionRequest)
    try:
        with WorkerContext(
            key,
            role_of(request),
            request.channel,
            site,
            providers,
            bounds,
            cancelled,
            price=work.prices.get(request.channel.model),
            locked=("context",) if is_session else (),
            opened=("context/harness",) if is_session else (),
        ) as ctx:
            yield ctx
    finally:
        if not work.keep_workspaces:
            close_site(site)


def _run(request: Request, ctx: WorkerContext) -> Record:
    match request:
        case RolloutRequest():
            return run_rollout(request, ctx)
        case SessionRequest():
            return run_session(request, ctx)
        case GradeRequest():
            return run_grade(request, ctx)


def _begin(store: Store, request: Request) -> int:
    store.put_blob(encode_request(request))  # for audit: the request can be read beside its result
    return attempts.begin(store, request_digest(request))


def _finish(store: Store, request: Request, record: Record, ordinal: int) -> Ended:
    """The record first: once it is there the work is done, whatever happens to the line about its attempt."""
    digest = request_digest(request)
    store.put(kind_of(request), digest, dump(record))
    attempts.end(store, digest, ordinal, record.outcome)
    return Ended(digest, True)


def _lose(store: Store, digest: Digest, ordinal: int, loss: Loss, spent: Sequence[Usage]) -> Ended:
    usage = loss.usage or (spent[0] if spent else None)
    outcome = next((item for item in Outcome if item.value == loss.cause), Outcome.LOST)
    note = f"{loss.note} (traceback: blob {loss.trace})" if loss.trace else loss.note
    try:
        attempts.end(store, digest, ordinal, outcome, loss.cause, note, usage)
    except Exception as error:
        note = f"{loss.note}; and the end of the attempt could not be recorded: {error}"
        return Ended(digest, False, "disk", loss.wait_seconds, note)
    return Ended(digest, False, loss.cause, loss.wait_seconds, loss.note)


def _priced(loss: Loss, work: Assignment, request: Request) -> Loss:
    """What a plugin said that a lost attempt cost, at the stated price of its model too."""
    price = work.prices.get(request.channel.model)
    return loss if price is None or loss.usage is None else evolve(loss, usage=price.of(loss.usage))


def _lost_before(digest: Digest, loss: Loss) -> Ended:
    return Ended(digest, False, loss.cause, loss.wait_seconds, loss.note)


def _who(request: Request, providers: Providers) -> str:
    match request:
        case RolloutRequest():
            return f"substrate {request.substrate} or benchmark {providers.adapter.spec.name}"
        case SessionRequest():
            return f"proposer {request.proposer}"
        case GradeRequest():
            return f"judge {request.judge}"
