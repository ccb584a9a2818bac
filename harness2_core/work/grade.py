"""One grading, end to end: a stored rollout and the grader's files become verdicts and a score.

Each verdict is kept as it comes (kind `verdict`), so that a judge that breaks at the ninth item has not lost eight,
and a grading asked for again pays only for what is missing. A failure to judge is missing, never zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

from attrs import evolve

from harness2_core.api.judges import Grading, Item, Judge
from harness2_core.api.runtime import Store
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome
from harness2_core.model.check import decimal_text
from harness2_core.model.errors import ConfigError, Lost
from harness2_core.model.manifest import Manifest
from harness2_core.model.names import file_name
from harness2_core.model.records import Grade, Rollout, Verdict
from harness2_core.model.requests import GradeRequest, request_digest
from harness2_core.model.serial import dump, load

from .attempts import host, utc_now
from .context import WorkerContext
from .losses import Cancelled
from .material import INPUTS
from .materialise import materialise
from .overlap import audit
from .rewriting import Rewriter
from .trees import read_card, read_manifest

KIND: Final = "verdict"
_PLACES: Final = Decimal("0.000001")
_WHY_CHARS: Final = 4_000


def run_grade(request: GradeRequest, ctx: WorkerContext) -> Grade:
    """Runs it at `ctx.site`. Raises `Lost`; anything else the judge raises is in the record, with what is missing."""
    store = ctx.providers.store
    rollout = _rollout(store, request.rollout)
    work = _lay_out(request, rollout, ctx)
    judge = ctx.providers.judge(request.judge)
    items = judge.items(request.task, work.grader)
    digest = request_digest(request)
    error = ""
    # Where the product may be a state of the environment, no file is no proof that nothing was delivered.
    nothing = not rollout.delivered and not ctx.providers.adapter.spec.state_deliverable
    if items is not None and nothing:
        verdicts: Sequence[Verdict] = [
            Verdict(item.name, False, "nothing was delivered", item.weight) for item in items
        ]
    else:
        found = {verdict.item: verdict for verdict in kept_verdicts(store, digest, items)}
        try:
            for verdict in _asked(judge, work, items, found, ctx):
                found[verdict.item] = verdict
                _keep(store, digest, verdict)
        except (Lost, Cancelled):
            raise
        except Exception as problem:
            error = ctx.rewriter().text(f"{request.judge} raised {type(problem).__name__}: {problem}")
        names = [item.name for item in items] if items is not None else list(found)
        weights = {item.name: item.weight for item in items or ()}
        missing = "the judge gave no verdict"
        verdicts = [found.get(name, Verdict(name, None, missing, weights.get(name, "1"))) for name in names]
        if nothing:  # the items became known by running: each is failed all the same
            verdicts = [evolve(verdict, passed=False, why="nothing was delivered") for verdict in verdicts]
    score, why = scored(verdicts)
    return Grade(
        request=digest,
        outcome=Outcome.CRASHED if error else Outcome.FINISHED,
        verdicts=tuple(verdicts),
        score=score,
        error=error or why,
        flags=audit(store, request.task_digest, rollout, request.grader),
        usage=ctx.usage(),
        versions=ctx.versions(),
        host=host(),
        finished_at=utc_now(),
    )


def scored(verdicts: Sequence[Verdict]) -> tuple[str | None, str]:
    """(passed weight over weight to six places, or None; why it is missing). Missing while any item is."""
    missing = sum(1 for verdict in verdicts if verdict.passed is None)
    if missing or not verdicts:
        return None, f"{missing} of {len(verdicts)} items have no verdict" if verdicts else "no item is known"
    total = sum((Decimal(verdict.weight) for verdict in verdicts), Decimal(0))
    passed = sum((Decimal(verdict.weight) for verdict in verdicts if verdict.passed), Decimal(0))
    if total <= 0:
        return None, f"the items weigh {total} together, where more than 0 is needed"
    return decimal_text((passed / total).quantize(_PLACES)), ""


def kept_verdicts(store: Store, request: Digest, items: Sequence[Item] | None) -> Iterator[Verdict]:
    """Verdicts that an earlier try at this grading left; none when the items are known only by running."""
    for item in items or ():
        key = _key(request, item.name)
        data = store.get(KIND, key)
        if data is not None:
            yield load(data, Verdict, f"{KIND} {key}")


def forget_verdicts(store: Store, request: Digest, items: Sequence[str]) -> None:
    """For a grading that is to be done anew."""
    for name in items:
        store.delete(KIND, _key(request, name))


def _asked(
    judge: Judge, work: Grading, items: Sequence[Item] | None, found: Mapping[str, Verdict], ctx: WorkerContext
) -> Iterator[Verdict]:
    """The judge's verdicts on what has none: the first on an item stands, its weight is the item's."""
    wanted = [item for item in items or () if item.name not in found]
    if items is not None and not wanted:
        return
    weights = {item.name: item.weight for item in wanted}
    done: set[str] = set()
    rewriter: Rewriter | None = None
    for verdict in judge.grade(work, wanted, ctx):
        if ctx.cancelled():
            raise Cancelled(ctx.usage())
        if verdict.item in done or (items is not None and verdict.item not in weights):
            continue
        passed: object = verdict.passed  # of a plugin: an int would be taken for a verdict
        if passed is not None and not isinstance(passed, bool):
            verdict = evolve(verdict, passed=None, why=f"{passed!r} is no verdict")
        done.add(verdict.item)
        rewriter = rewriter or ctx.rewriter()
        why = rewriter.text(verdict.why)[:_WHY_CHARS]
        yield evolve(verdict, why=why, weight=weights.get(verdict.item, verdict.weight))


def _keep(store: Store, request: Digest, verdict: Verdict) -> None:
    if verdict.passed is not None:
        store.put(KIND, _key(request, verdict.item), dump(verdict))


def _rollout(store: Store, digest: Digest) -> Rollout:
    data = store.get("rollout", digest)
    if data is None:
        raise ConfigError(f"there is no rollout {digest} to grade", "run the task first")
    rollout = load(data, Rollout, f"rollout {digest}")
    if not rollout.usable:
        raise ConfigError(f"rollout {digest} is dead: nothing came of it to grade", "run it again with `--retry dead`")
    return rollout


def _lay_out(request: GradeRequest, rollout: Rollout, ctx: WorkerContext) -> Grading:
    store, root = ctx.providers.store, ctx.site.workspace
    entries = read_manifest(store, read_card(store, request.task_digest).material).entries
    source = read_manifest(store, entries[INPUTS].digest) if INPUTS in entries else Manifest()
    parts = {
        "deliverables": rollout.deliverables,
        "views": rollout.views,
        "sealed": rollout.sealed,
        "grader": read_manifest(store, request.grader),
        "source": source,
    }
    paths: dict[str, Path] = {}
    for name, manifest in parts.items():
        paths[name] = root / name
        materialise(store, manifest, paths[name])
    return Grading(request.task, **paths)


def _key(request: Digest, item: str) -> str:
    return f"{request}/{file_name(item)}"
