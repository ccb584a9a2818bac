"""Capture: once, at the end, everything that later steps may ask of a rollout becomes values in the store.

Nothing here fails a rollout that was paid for because of what the agent left: what cannot be kept is listed, and a
renderer that breaks is replaced by core's text view, saying so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, frozen

from harness2_core.api.adapters import Adapter, CollectsOutput, RendersViews
from harness2_core.model.bench import Collected, Task, TaskCard
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome, Usage
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.process import Exit
from harness2_core.model.records import Rollout
from harness2_core.model.serial import dump
from harness2_core.model.trajectory import Failure, Trajectory, clip, render

from .attempts import host, utc_now
from .context import WorkerContext
from .keeping import Keeper, Kept, first, listed
from .materialise import materialise
from .nofollow import chunks, open_file, walk
from .rewriting import Rewriter
from .site import OUTPUT, Site
from .views import overlaid, text_views


@frozen
class Seen:
    """What a run left to capture. `exit` is None when no program of ours ran: a container, a service."""

    outcome: Outcome
    trajectory: Trajectory | None
    exit: Exit | None = None
    collected: Collected | None = None
    problems: tuple[str, ...] = ()
    stream: Path | None = None
    stderr: Path | None = None
    usage: Usage | None = None


def capture(request: Digest, card: TaskCard, seen: Seen, ctx: WorkerContext) -> Rollout:
    """The record of a rollout; everything it names is in the store."""
    store, adapter, site = ctx.providers.store, ctx.providers.adapter, ctx.site
    rewriter = ctx.rewriter()
    keeper = Keeper(store, rewriter, site.scratch)
    empty = Entry(store.put_blob(b""), 0)
    kept = _deliverables(seen.collected, keeper, ctx)
    found = () if seen.collected is None else seen.collected.problems
    views, view_problems = _views(adapter, kept, keeper, ctx)
    sealed = Kept() if seen.collected is None else keeper.files(seen.collected.sealed, (site.workspace,))
    trajectory = rewriter.trajectory(clip(seen.trajectory or Trajectory(()), adapter.spec.observation_chars))
    problems = (
        *seen.problems,
        *found,
        *kept.problems,
        *view_problems,
        *(f"sealed: {text}" for text in sealed.problems),
    )
    return Rollout(
        request=request,
        outcome=seen.outcome,
        delivered=seen.collected.delivered if seen.collected is not None else _delivered(kept.manifest, card.expects),
        transcript=_put(ctx, render(trajectory).encode()),
        # Its own usage tells elapsed time, which no two runs share: the record has it.
        trajectory=_put(ctx, dump(evolve(trajectory, usage=evolve(trajectory.usage, elapsed_ms=0)))),
        stream=empty if seen.stream is None else keeper.path(seen.stream),
        stderr=empty if seen.stderr is None else keeper.path(seen.stderr),
        deliverables=kept.manifest,
        views=views,
        missed=tuple(rewriter.text(text) for text in first(kept.problems)),
        sealed=sealed.manifest,
        usage=ctx.usage(seen.usage or (seen.trajectory.usage if seen.trajectory else None), request),
        versions=ctx.versions(),
        note=rewriter.text(listed(problems)),
        host=host(),
        finished_at=utc_now(),
    )


def collected_by(adapter: Adapter, workspace: Path, card: TaskCard) -> Collected | None:
    """What the adapter finds; `None` when it leaves that to core: every file under `output/`."""
    if not isinstance(adapter, CollectsOutput):
        return None
    return adapter.collect(workspace, bare_task(card))


def has_delivered(site: Site) -> bool:
    """Whether anything lies where deliverables are looked for."""
    return any(True for _ in walk(site.workspace, OUTPUT))


def bare_task(card: TaskCard, prompt: str = "") -> Task:
    """A task as workers know it: without local files."""
    return Task(card.id, card.domain, prompt, {}, card.expects, card.limit_seconds)


def stream_chunks(path: Path, rewriter: Rewriter) -> Iterator[bytes]:
    """A captured stream as substrates parse it: with constant paths."""
    return rewriter.stream(chunks(open_file(path)))


def unparsed(name: str, error: Exception) -> Trajectory:
    """Stands in when a parser broke: the run was paid for, and its stream is kept."""
    text = f"the transcript could not be read: the parser of {name} raised {type(error).__name__}: {error}"
    return Trajectory((Failure(text),))


def _deliverables(collected: Collected | None, keeper: Keeper, ctx: WorkerContext) -> Kept:
    workspace = ctx.site.workspace
    if collected is None:
        return keeper.tree(workspace, OUTPUT)
    return keeper.files(collected.deliverables, (workspace, ctx.site.scratch))


def _delivered(deliverables: Manifest, expects: tuple[str, ...]) -> bool:
    """A file that the task asks for, and any file when it asks for none by name, with something in it."""
    wanted = expects or tuple(deliverables.entries)
    return any(path in deliverables.entries and deliverables.entries[path].size for path in wanted)


def _views(adapter: Adapter, kept: Kept, keeper: Keeper, ctx: WorkerContext) -> tuple[Manifest, tuple[str, ...]]:
    store, scratch = ctx.providers.store, ctx.site.scratch
    views = text_views(store, kept)
    if not isinstance(adapter, RendersViews) or not kept.manifest.entries:
        return views, ()
    copies = scratch / "deliverables"
    try:
        # Copies of what is in the store: no renderer meets a link, and views are a function of what is kept.
        paths = materialise(store, kept.manifest, copies)
        rendered = keeper.files(adapter.views({path: copies / path for path in paths}, ctx), (scratch,))
    except Exception as error:
        return views, (f"views: {adapter.spec.name} raised {type(error).__name__}: {error}; texts stand as they are",)
    return overlaid(views, rendered.manifest.entries), tuple(f"views: {text}" for text in rendered.problems)


def _put(ctx: WorkerContext, data: bytes) -> Entry:
    return Entry(ctx.providers.store.put_blob(data), len(data))
