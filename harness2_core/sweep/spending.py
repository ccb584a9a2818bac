"""What was paid, and for which role: counted from the records, each price once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Outcome, Usage, total_usage
from harness2_core.model.records import RESULTS, AttemptEnded
from harness2_core.model.requests import Request, kind_of, role_of
from harness2_core.model.serial import load
from harness2_core.work import attempts
from harness2_core.work.policy import CANCELLED

from .archive import Archive
from .result import Paid


@frozen
class Cost:
    """Of one request: the usage in its final record (`None`: there is no such record), and the ends of lost attempts.

    Those that we cancelled are among them: they may have cost something.
    """

    final: Usage | None
    lost: tuple[AttemptEnded, ...]


class Costs:
    """Costs as an archive has them. One with a final record never changes, and is read once."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._settled: dict[Digest, Cost] = {}

    def of(self, kind: str, digest: Digest) -> Cost:
        cost = self._settled.get(digest) or _cost(self._archive, kind, digest)
        if cost.final is not None:
            self._settled[digest] = cost
        return cost

    def paid_for(self, requests: Mapping[Digest, Request], former: Mapping[Digest, int] | None = None) -> Paid:
        """What these requests, all begun by this invocation, have cost with their lost attempts.

        `former` says how many attempts at a request others had begun before: those are theirs.
        """
        usages: dict[str, list[Usage]] = {}
        counts = {"rollout": 0, "session": 0, "grade": 0}
        lost = 0
        for digest, request in requests.items():
            kind = kind_of(request)
            cost = self.of(kind, digest)
            ends = [end for end in cost.lost if end.ordinal > (former or {}).get(digest, 0)]
            lost += sum(end.cause != CANCELLED for end in ends)
            spent = [end.usage for end in ends if end.usage is not None]
            if cost.final is not None:
                counts[kind] += 1
                spent.append(cost.final)
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
    costs = [_cost(archive, kind, digest) for digest in digests]
    lost = [end.usage for cost in costs for end in cost.lost]
    return tuple(usage for usage in (*(cost.final for cost in costs), *lost) if usage is not None)


def is_dead(archive: Archive, kind: str, digest: Digest) -> bool:
    """Whether its record says that nothing came of it, in all its tries."""
    data = archive.store.get(kind, digest)
    return data is not None and load(data, RESULTS[kind], f"{kind} {digest}").outcome is Outcome.LOST


def _cost(archive: Archive, kind: str, digest: Digest) -> Cost:
    ends = [attempt.ended for attempt in attempts.attempts_of(archive.store, digest)]
    return Cost(archive.usage(kind, digest), tuple(end for end in ends if end is not None and end.cause))
