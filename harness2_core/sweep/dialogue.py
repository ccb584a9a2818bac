"""Runs a strategy's dialogue: each ask becomes a session request, each reply is sent back when all of a round are in.

A correction is labelled `<label>.fix`. When a dialogue ends without a result, its last replies are marked unusable, so
that they are never taken for an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from harness2_core.model.canonical import Digest
from harness2_core.model.errors import PluginError
from harness2_core.model.records import Reply, Rollout
from harness2_core.model.strategy import Ask, Dialogue

from .drawing import session_request
from .guard import guarded
from .prepare import Body
from .study import Study

T = TypeVar("T")

ASKS = 10_000
"""A dialogue that asks for more than this is broken."""


def held(
    study: Study,
    mode: str,
    task: str,
    label: str,
    role: str,
    kind: str,
    dialogue: Dialogue[T],
    rollouts: Iterable[Rollout],
    sessions: list[Digest],
) -> Body[T]:
    """The dialogue's result. Appends the request digests of its sessions to `sessions`, in the order of asking.

    Whatever the strategy raises passes through, as does `PluginError` for asks that break the rules.
    """
    rollouts = tuple(rollouts)
    labels: dict[str, str] = {}
    replies: tuple[Reply, ...] | None = None
    last: tuple[Digest, ...] = ()
    namespace = study.namespace(mode)
    while True:
        try:
            asks = next(dialogue) if replies is None else dialogue.send(replies)
        except StopIteration as end:
            result: T = end.value
            return result
        except Exception:
            for digest in last:
                study.store.put("unusable", digest, b"{}")
            raise
        requests = []
        for ask in asks:
            name = _label(label, ask, labels)
            study.store.put_blob(ask.evidence.encode())
            guarded(study, task, ask.evidence, rollouts)
            requests.append(session_request(study, namespace, task, name, role, kind, ask.mission, ask.evidence, None))
        last = yield tuple(requests)
        sessions.extend(last)
        replies = tuple(study.archive.reply(digest) for digest in last)


def _label(base: str, ask: Ask, labels: dict[str, str]) -> str:
    if ask.tag in labels or len(labels) >= ASKS:
        raise PluginError(f"a strategy asked {ask.tag!r} twice, or without end", "mend the plugin: tags are unique")
    if ask.corrects:
        if ask.corrects not in labels:
            raise PluginError(f"a strategy corrects {ask.corrects!r}, which it did not ask", "mend the plugin")
        labels[ask.tag] = f"{labels[ask.corrects]}.fix"
    else:
        labels[ask.tag] = base if ask.tag == base else f"{base}_{ask.tag}"
    return labels[ask.tag]
