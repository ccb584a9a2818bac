"""One rollout, end to end: a task's inputs and a harness become a run, and the run becomes a record."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from harness2_core.api.adapters import OwnsRuntime
from harness2_core.api.ending import IDLE, ending_of, has_worked
from harness2_core.api.substrates import RemoteAgent, Substrate
from harness2_core.model.bench import TaskCard
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel, Outcome
from harness2_core.model.errors import InvalidValue, Lost
from harness2_core.model.process import Exit
from harness2_core.model.records import Rollout
from harness2_core.model.requests import RolloutRequest, request_digest
from harness2_core.model.tree import HarnessTree

from .capture import Seen, capture, collected_by, has_delivered, stream_chunks, unparsed
from .context import WorkerContext
from .losses import Cancelled
from .material import INPUTS, PROMPT
from .materialise import materialise
from .trees import read_blob, read_card, read_manifest, read_tree


@frozen
class _Given:
    """What a rollout starts from."""

    card: TaskCard
    prompt: str
    tree: HarnessTree
    channel: Channel
    """With the task's own time limit in it, if it has one."""


def run_rollout(request: RolloutRequest, ctx: WorkerContext) -> Rollout:
    """Runs it at `ctx.site`, a fresh one. Raises `Lost` with its price, and whatever plugin code raises."""
    given = _given(request, ctx)
    _write_inputs(given.card, ctx)
    made = ctx.providers.substrate(request.substrate)
    if isinstance(made, Substrate):
        seen = _run_here(request, ctx.substrate(request.substrate), given, ctx)
    else:
        seen = _run_remotely(made, given, ctx)
    collected = collected_by(ctx.providers.adapter, ctx.site.workspace, given.card)
    if collected is not None:
        seen = evolve(
            seen,
            collected=collected,
            trajectory=collected.trajectory or seen.trajectory,
            outcome=seen.outcome if seen.outcome is not Outcome.FINISHED else collected.outcome,
            usage=seen.trajectory.usage if seen.trajectory else None,
        )
    return _kept(request_digest(request), given.card, _settled(seen, ctx), ctx)


def run_batch(requests: tuple[RolloutRequest, ...], ctx: WorkerContext) -> Iterator[Rollout]:
    """Draws of one tree under an adapter that owns its runtime; each record as its draw ends, missing ones never."""
    adapter, first = ctx.providers.adapter, requests[0]
    assert isinstance(adapter, OwnsRuntime)
    given = _given(first, ctx)
    waiting = {request_digest(request): request for request in requests}
    for digest in waiting:
        adapter.stop(digest)  # what a killed attempt left running
    try:
        for digest, collected in adapter.run(requests, given.tree, ctx.substrate(first.substrate), ctx):
            if waiting.pop(digest, None) is None:
                raise InvalidValue(
                    f"{adapter.spec.name} yielded {digest!r}, which it was not asked for or has yielded before",
                    "mend the adapter's `run`: one pair a request, with the request's digest",
                )
            seen = Seen(collected.outcome, collected.trajectory, collected=collected)
            yield _kept(digest, given.card, _settled(seen, ctx), ctx)
    finally:
        for digest in waiting:
            adapter.stop(digest)


def _given(request: RolloutRequest, ctx: WorkerContext) -> _Given:
    store = ctx.providers.store
    card = read_card(store, request.task_digest)
    prompt = read_blob(store, read_manifest(store, card.material).entries[PROMPT].digest).decode()
    limit = card.limit_seconds or request.channel.limit_seconds
    return _Given(card, prompt, read_tree(store, request.tree), evolve(request.channel, limit_seconds=limit))


def _write_inputs(card: TaskCard, ctx: WorkerContext) -> None:
    """The task's files at the paths it gives them; the prompt reaches the agent by its substrate."""
    store = ctx.providers.store
    entries = read_manifest(store, card.material).entries
    if INPUTS in entries:
        materialise(store, read_manifest(store, entries[INPUTS].digest), ctx.site.workspace)
    (ctx.site.workspace / "output").mkdir(exist_ok=True)


def _run_here(request: RolloutRequest, agent: Substrate, given: _Given, ctx: WorkerContext) -> Seen:
    place = ctx.place(ctx.site.workspace)
    # The channel's own limit goes to `endpoint`, which knows channels as they are configured.
    install = agent.install(given.tree, given.prompt, given.channel, place, ctx.endpoint(request.channel))
    ended = ctx.spawn(install, ctx.site.workspace, given.channel.limit_seconds)
    if ended.cancelled:
        raise Cancelled(ctx.usage(None))
    rewriter = ctx.rewriter()
    try:
        out, err = stream_chunks(ended.stdout, rewriter), stream_chunks(ended.stderr, rewriter)
        trajectory = agent.parse(out, err, ended)
    except Exception as error:
        trajectory = unparsed(request.substrate, error)
    ctx.tell(trajectory.usage)
    try:
        ending = ending_of(agent, trajectory, ended, delivered=True)  # settled when it is known
    except Lost as lost:
        raise Lost(lost.cause, lost.what, wait_seconds=lost.wait_seconds, usage=ctx.usage(lost.usage)) from None
    problems = (*((ending.note,) if ending.note else ()), *_remarks(ended))
    return Seen(ending.outcome, trajectory, ended, problems=problems, stream=ended.stdout, stderr=ended.stderr)


def _run_remotely(agent: RemoteAgent, given: _Given, ctx: WorkerContext) -> Seen:
    trajectory = agent.run(given.tree, given.prompt, given.channel, ctx.site.workspace, ctx)
    ctx.tell(trajectory.usage)
    if ctx.cancelled():
        raise Cancelled(ctx.usage(trajectory.usage))
    return Seen(Outcome.FINISHED, trajectory)


def _settled(seen: Seen, ctx: WorkerContext) -> Seen:
    """A run that ended well and came to nothing at all is none, also in a container or behind a service."""
    if seen.outcome is not Outcome.FINISHED or seen.trajectory is None or has_worked(seen.trajectory):
        return seen
    delivered = seen.collected.delivered if seen.collected is not None else has_delivered(ctx.site)
    return seen if delivered else evolve(seen, outcome=IDLE.outcome, problems=(IDLE.note, *seen.problems))


def _kept(digest: Digest, card: TaskCard, seen: Seen, ctx: WorkerContext) -> Rollout:
    if seen.outcome is Outcome.LOST:
        why = "; ".join(seen.collected.problems) if seen.collected else ""
        usage = seen.usage or (seen.trajectory.usage if seen.trajectory else None)
        raise Lost(
            "worker",
            why or f"{ctx.providers.adapter.spec.name} reports the run as lost",
            usage=ctx.usage(usage, digest),
        )
    return capture(digest, card, seen, ctx)


def _remarks(ended: Exit) -> tuple[str, ...]:
    """What a person wants to know of an end, and no model needs to."""
    said = []
    if ended.signal is not None and not ended.timed_out:
        said.append(f"ended by signal {ended.signal}")
    elif ended.code:
        said.append(f"exit status {ended.code}")
    if ended.usage.exceeded:
        said.append(f"ended for going over its limit of {ended.usage.exceeded}")
    if ended.truncated:
        said.append("its output was longer than what is kept")
    return tuple(said)
