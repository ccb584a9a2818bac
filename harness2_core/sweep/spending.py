"""What was paid, and for which role: counted from the records, each price once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome, Usage, total_usage
from harness2_core.model.records import AttemptEnded, Grade, Reply, Rollout
from harness2_core.model.requests import Request, kind_of, role_of
from harness2_core.model.serial import load, load_field
from harness2_core.work import attempts
from harness2_core.work.policy import CANCELLED

from .archive import Archive
from .result import Paid

_RECORDS: Final[Mapping[str, type[object]]] = {"rollout": Rollout, "session": Reply, "grade": Grade}


def paid_for(archive: Archive, requests: Mapping[Digest, Request], former: Mapping[Digest, int] | None = None) -> Paid:
    """What these requests, all begun by this invocation, have cost with their lost attempts.

    `former` says how many attempts at a request others had begun before: those are theirs.
    """
    usages: dict[str, list[Usage]] = {}
    counts = {"rollout": 0, "session": 0, "grade": 0}
    lost = 0
    for digest, request in requests.items():
        ends = _lost(archive, digest, (former or {}).get(digest, 0))
        lost += sum(end.cause != CANCELLED for end in ends)
        spent = [end.usage for end in ends if end.usage is not None]
        kind = kind_of(request)
        final = _final(archive, kind, digest)
        if final is not None:
            counts[kind] += 1
            spent.append(final)
        usages.setdefault(role_of(request), []).extend(spent)
    return Paid(
        counts["rollout"],
        counts["session"],
        counts["grade"],
        lost,
        {role: total_usage(parts) for role, parts in usages.items() if parts},
    )


def usage_of(archive: Archive, kind: str, digests: Collection[Digest]) -> tuple[Usage, ...]:
    """Usages of the records that exist, those of attempts that came to nothing included."""
    finals = [_final(archive, kind, digest) for digest in digests]
    lost = [end.usage for digest in digests for end in _lost(archive, digest)]
    return tuple(usage for usage in (*finals, *lost) if usage is not None)


def is_dead(archive: Archive, kind: str, digest: Digest) -> bool:
    """Whether its record says that nothing came of it, in all its tries."""
    data = archive.store.get(kind, digest)
    record = None if data is None else load(data, _RECORDS[kind], digest)
    return isinstance(record, Rollout | Reply | Grade) and record.outcome is Outcome.LOST


def _lost(archive: Archive, digest: Digest, former: int = 0) -> list[AttemptEnded]:
    """Ends of attempts that came to nothing, those that we cancelled too: they may have cost something."""
    ends = [attempt.ended for attempt in attempts.attempts_of(archive.store, digest)[former:]]
    return [end for end in ends if end is not None and end.cause]


def _final(archive: Archive, kind: str, digest: Digest) -> Usage | None:
    data = archive.store.get(kind, digest)
    return None if data is None else load_field(data, _RECORDS[kind], "usage", Usage, digest)
