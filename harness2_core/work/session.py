"""One session, end to end: evidence and mission in, reply and edited harness out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from harness2_core.api.adapters import ChecksTree
from harness2_core.api.sessions import Said
from harness2_core.model.acceptance import Accepted, Check
from harness2_core.model.channel import Outcome
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.records import Reply
from harness2_core.model.replies import keeps_base
from harness2_core.model.requests import SessionRequest, request_digest
from harness2_core.model.surface import Surface

from .attempts import host, utc_now
from .context import WorkerContext
from .harvest import EDITABLE, Harvest, guarded, harvest, judged
from .losses import Cancelled, Unanswered
from .materialise import make_read_only, materialise
from .policy import is_final
from .trees import put_manifest, put_tree, read_files, read_manifest
from .unaltered import altered, as_notes

CONTEXT: Final = "context"


@frozen
class _Edited:
    """What became of the editable part."""

    harvested: Manifest
    accepted: str | None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kept: bool = False


def run_session(request: SessionRequest, ctx: WorkerContext) -> Reply:
    """Runs it at `ctx.site`, a fresh one. Raises `Lost`, `Unanswered` with its price, and what the plugin raises."""
    _lay_out(request, ctx)
    said = ctx.providers.proposer(request.proposer).run(request, ctx.site.workspace, ctx)
    ctx.tell(said.usage)
    if ctx.cancelled():
        raise Cancelled(ctx.usage())
    _answered(said, ctx)
    rewriter = ctx.rewriter()
    evidence = read_manifest(ctx.providers.store, request.evidence)
    editable = "" if request.editable is None else EDITABLE
    changes = as_notes(altered(ctx.providers.store, evidence, ctx.site.workspace, CONTEXT, editable))
    edited = None if request.editable is None else _edited(request, request.editable, said.text, ctx)
    notes = (*((said.note,) if said.note else ()), *changes, *(edited.notes if edited else ()))
    return Reply(
        outcome=said.outcome,
        text=rewriter.text(said.text),
        harvested=edited.harvested if edited else None,
        accepted=edited.accepted if edited else None,
        problems=tuple(rewriter.text(problem) for problem in (edited.problems if edited else ())),
        notes=tuple(rewriter.text(note) for note in notes),
        kept=edited.kept if edited else False,
        usage=ctx.usage(),
        request=request_digest(request),
        versions=ctx.versions(),
        host=host(),
        finished_at=utc_now(),
    )


def _lay_out(request: SessionRequest, ctx: WorkerContext) -> None:
    store, context = ctx.providers.store, ctx.site.workspace / CONTEXT
    materialise(store, read_manifest(store, request.evidence), context)
    for path in sorted(context.iterdir()):
        if path.is_dir():
            make_read_only(path)
        else:
            path.chmod(0o444)
    if request.editable is not None:
        materialise(store, read_manifest(store, request.editable), ctx.site.workspace / EDITABLE)


def _answered(said: Said, ctx: WorkerContext) -> None:
    """Anything but a complete, non-blank answer is none, whatever text it left and whatever it edited."""
    if not is_final("session", said.outcome):
        outcome = said.outcome if said.outcome is not Outcome.LOST else Outcome.CRASHED
        raise Unanswered(outcome.value, said.note or f"the session ended {outcome.value}", ctx.usage())
    if not said.text.strip():
        raise Unanswered(Outcome.CRASHED.value, said.note or "the session ended without a word", ctx.usage())


def _edited(request: SessionRequest, given: str, text: str, ctx: WorkerContext) -> _Edited:
    store = ctx.providers.store
    substrate = ctx.providers.substrate(request.substrate)
    spec = ctx.providers.adapter.spec
    surface = substrate.surface.extended(reserved_scripts=spec.reserved_scripts, sub_agents=spec.sub_agents)
    checks = _checks(substrate, request.substrate, ctx)
    found = harvest(ctx.site.workspace, given=read_manifest(store, given).entries, surface=surface)
    data = {path: ctx.rewriter().data(content) for path, content in found.files.items()}
    found = evolve(found, files=data)
    harvested = Manifest({path: Entry(store.put_blob(content), len(content)) for path, content in data.items()})
    put_manifest(store, harvested)
    if keeps_base(text, request.mission):
        return _kept(given, harvested, surface, checks, ctx)
    result = judged(surface, found, checks)
    if isinstance(result, Accepted):
        return _Edited(harvested, put_tree(store, result.tree), (), result.notes)
    return _Edited(harvested, None, result.problems, result.notes)


def _kept(given: str, harvested: Manifest, surface: Surface, checks: Sequence[Check], ctx: WorkerContext) -> _Edited:
    """What it was given counts, whatever it edited; of a correction that may be a tree nobody can accept."""
    store = ctx.providers.store
    files = read_files(store, read_manifest(store, given))
    result = judged(surface, Harvest(files, given=frozenset(files)), checks)
    unchanged = isinstance(result, Accepted) and put_tree(store, result.tree) == given
    return _Edited(harvested, given if unchanged else None, kept=True)


def _checks(substrate: object, name: str, ctx: WorkerContext) -> tuple[Check, ...]:
    adapter = ctx.providers.adapter
    checks = [guarded(check, "an extra plugin") for check in ctx.providers.checks]
    if isinstance(adapter, ChecksTree):
        checks.append(guarded(adapter.check_tree, f"the benchmark {adapter.spec.name}"))
    if isinstance(substrate, ChecksTree):
        checks.append(guarded(substrate.check_tree, f"the substrate {name}"))
    return tuple(checks)
