"""From labels to requests: each under its own draw, and under a new one where `--retry` asks for it.

A retried task serves what was usable from its former draws and draws the rest anew, as `<label>.a<n>`.
"""

from __future__ import annotations

from attrs import evolve

from harness2_core.model.canonical import Digest
from harness2_core.model.manifest import Manifest
from harness2_core.model.namespace import Namespace, draw
from harness2_core.model.records import Reply, RollRecord
from harness2_core.model.requests import Request, RolloutRequest, SessionRequest, kind_of, request_digest
from harness2_core.work.wholeness import is_whole

from .prepare import Body
from .study import Study


def drawn(study: Study, namespace: Namespace, task: str, label: str, request: Request) -> Request:
    """`request`, of the first attempt, under the draw that counts: the first with a usable record, else the present."""
    present = study.attempt(task)
    for attempt in range(study.served_from.get(task, 1), present):
        former = evolve(request, draw=draw(namespace, task, label, attempt))
        if _usable(study, former, label):
            return former
    return request if present == 1 else evolve(request, draw=draw(namespace, task, label, present))


def rolled(
    study: Study, namespace: Namespace, task: str, labels: tuple[str, ...], tree: Digest
) -> Body[tuple[RollRecord, ...]]:
    """Rolls one tree under each label; dead rollouts are values like any other."""
    card, role = study.cards[task], study.roles["executor"]
    channel = role.channel
    if 0 < card.limit_seconds < channel.limit_seconds:
        channel = evolve(channel, limit_seconds=card.limit_seconds)
    requests = tuple(
        drawn(
            study,
            namespace,
            task,
            label,
            RolloutRequest(
                bench=study.home.bench,
                task=task,
                task_digest=study.experiment.tasks[task],
                substrate=study.home.substrate,
                tree=tree,
                channel=channel,
                settings=role.settings,
                draw=draw(namespace, task, label),
            ),
        )
        for label in labels
    )
    digests = yield requests
    records = []
    for label, digest in zip(labels, digests, strict=True):
        rollout = study.archive.rollout(digest)
        records.append(RollRecord(label, digest, tree, rollout.outcome, rollout.delivered))
    return tuple(records)


def session(
    study: Study,
    namespace: Namespace,
    task: str,
    label: str,
    *,
    role: str,
    kind: str,
    mission: str,
    evidence: Manifest,
    editable: Digest | None = None,
) -> Body[tuple[Digest, Reply]]:
    """One session of `role`; its evidence is already in the store."""
    (digest,) = yield (session_request(study, namespace, task, label, role, kind, mission, evidence, editable),)
    return digest, study.archive.reply(digest)


def session_request(
    study: Study,
    namespace: Namespace,
    task: str,
    label: str,
    role: str,
    kind: str,
    mission: str,
    evidence: Manifest,
    editable: Digest | None,
) -> Request:
    """The request of a session, under the draw that counts."""
    bound = study.roles[role]
    return drawn(
        study,
        namespace,
        task,
        label,
        SessionRequest(
            bench=study.home.bench,
            task=task,
            task_digest=study.experiment.tasks[task],
            substrate=study.home.substrate,
            role=role,
            kind=kind,
            proposer=bound.provider,
            channel=bound.channel,
            settings=bound.settings,
            mission=mission,
            evidence=evidence.digest,
            editable=editable,
            draw=draw(namespace, task, label),
        ),
    )


def _usable(study: Study, request: Request, label: str) -> bool:
    """Whether a former attempt's result stands. An unusable reply does as the first half of its own correction only."""
    kind, digest = kind_of(request), request_digest(request)
    if not is_whole(study.store, kind, digest):
        return False
    if kind == "rollout":
        return study.archive.rollout(digest).usable
    reply = study.archive.reply(digest)
    if not reply.answered or study.store.get("unusable", digest) is not None:
        return False
    edits = isinstance(request, SessionRequest) and request.editable is not None
    return not (edits and label.endswith(".fix") and reply.accepted is None)
