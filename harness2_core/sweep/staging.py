"""One improvement stage: evidence and mission, a session, at most one correction, else the tree it started from."""

from __future__ import annotations

from harness2_core.method.evidence import Candidate, Given, stage_evidence
from harness2_core.method.layout import phrase
from harness2_core.method.missions import mission, stage_correction
from harness2_core.model.bench import BenchWords
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import StoreError
from harness2_core.model.plan import BASE, Stage
from harness2_core.model.records import Reply, StageRecord
from harness2_core.model.replies import notes_in

from .drawing import session
from .graph import Key
from .guard import guarded
from .outcomes import Result, Results, rolls_in, stages_in, view_in
from .prepare import Body
from .steps import Held
from .study import Study

ERROR_CHARS = 400
"""Characters of a stage's error that its record keeps; later sessions read it, so a cut is marked."""


def stage(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """A fault of a plugin or of the texts falls back, with the reason; an error of the store ends the sweep."""
    plan = study.modes[key.mode].plan
    step = plan.stage(key.label)
    start = study.base_digest
    if step.start != BASE:
        start = stages_in(results, key.task, key.mode, plan)[step.start].tree
    sessions: list[Digest] = []
    try:
        return (yield from _improve(study, key, results, step, start, sessions))
    except StoreError:
        raise
    except Exception as error:
        return _fallen(study, step, start, sessions, f"{type(error).__name__}: {error}")


def _improve(
    study: Study, key: Key, results: Results, step: Stage, start: Digest, sessions: list[Digest]
) -> Body[Result | Held]:
    archive = study.archive
    given = _given(study, key, results, step, start)
    bundle = stage_evidence(step, given)
    archive.put_new(bundle.new)
    guarded(study, key.task, bundle.manifest, (*given.rollouts.values(), *(c.rollout for c in given.pool.values())))
    words: BenchWords = study.words(key.task)
    text = mission(step, bundle.listing, words, study.surface, study.modes[key.mode].templates)
    namespace = study.namespace(key.mode)
    digest, reply = yield from session(
        study,
        namespace,
        key.task,
        step.label,
        role="improver",
        kind=step.template,
        mission=text,
        evidence=bundle.manifest,
        editable=start,
    )
    sessions.append(digest)
    if reply.answered and _tree(reply, start) is None and reply.harvested is not None:
        archive.store.put_blob(reply.harvested.encode())
        digest, reply = yield from session(
            study,
            namespace,
            key.task,
            f"{step.label}.fix",
            role="improver",
            kind=step.template,
            mission=stage_correction(text, reply.problems, reply.notes, study.modes[key.mode].templates),
            evidence=bundle.manifest,
            editable=reply.harvested.digest,
        )
        sessions.append(digest)
    tree = _tree(reply, start)
    if not reply.answered or tree is None:
        return _fallen(study, step, start, sessions, _why(reply))
    notes = archive.store.put_blob(notes_in(reply.text).encode("utf-8", "replace"))
    return StageRecord(
        step.label,
        step.template,
        tree,
        tuple(sessions),
        kept=reply.kept or tree == start,
        notes=notes,
    )


def _given(study: Study, key: Key, results: Results, step: Stage, start: Digest) -> Given:
    archive, plan = study.archive, study.modes[key.mode].plan
    card = study.cards[key.task]
    rolls = rolls_in(results, key.task, key.mode, plan)
    stages = stages_in(results, key.task, key.mode, plan)
    return Given(
        card=card,
        material=study.material(key.task),
        spec=study.spec,
        start=archive.tree(start),
        rollouts={label: archive.rollout(rolls[label].rollout) for label in step.rollouts},
        pool={
            label: Candidate(archive.tree(stages[label].tree), archive.rollout(rolls[label].rollout))
            for label in step.pool
        },
        decisions={label: decision(study, stages[label]) for label in step.decisions},
        library=archive.manifest(view_in(results, key.task, key.mode).view),
    )


def decision(study: Study, record: StageRecord) -> str:
    """The notes of a stage, or why it came to nothing."""
    if record.notes:
        return study.archive.notes(record.notes)
    return f"(no edit came of this stage: {record.error})" if record.error else ""


def _tree(reply: Reply, start: Digest) -> Digest | None:
    """What came of an edit. Who asks to keep the harness has what the stage began from, in a correction too."""
    return start if reply.kept else reply.accepted


def _why(reply: Reply) -> str:
    if not reply.answered:
        said = f" ({reply.cause})" if reply.cause else ""
        return f"the session ended without a complete answer: {reply.outcome.value}{said}"
    return "; ".join(reply.problems) or "no harness came back"


def _fallen(study: Study, step: Stage, start: Digest, sessions: list[Digest], why: str) -> StageRecord:
    return StageRecord(
        step.label, step.template, start, tuple(sessions), fell_back=True, error=phrase(why, ERROR_CHARS)
    )
