"""What the events of a sweep say: the one table of words and facts, for listeners, the live view and `events.jsonl`.

| what | facts |
| --- | --- |
| `sweep-started`, `judging-started`, `reselecting-started` | `namespace`, `steps`, `slots`; of a sweep also `tasks` (a number), `modes` (JSON: token and name), `stream` (JSON: domain, its tasks to do in order, how many were done before), `partly` (JSON: task, its unfinished modes, where those are not all) |
| `step-started`, `step-ended` | none |
| `step-held` | `why` |
| `attempt-queued`, `attempt-elsewhere` (another process has it) | `kind` |
| `attempt-started` | `kind`, `role`, `model` and, of a draw, its label as `draw` |
| `attempt-lost` | `cause`, `role` and, if known, `usd` |
| `attempt-waits` (after a loss) | `seconds` |
| `attempt-ended` | of work that was begun here: `role`, `source` and, if known, `usd` |
| `sweep-ended` | `exit` |

`usd` is what the request has cost so far, its lost attempts included.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness2_core.model.canonical import Digest, Json, canonical, encodable
from harness2_core.model.requests import GradeRequest, Request, kind_of, role_of

from .course import Course
from .events import Events, Facts
from .graph import Key
from .scheduler import Notify
from .spending import Costs
from .study import Study


def teller(events: Events, costs: Costs, started: Mapping[Digest, Request]) -> Notify:
    """What the scheduler reports to: adds the facts. `started` are the requests that were handed to the engine."""

    def facts(what: str, digest: Digest, fact: str) -> Facts | None:
        request = started.get(digest)
        match what:
            case "step-held":
                return {"why": encodable(fact)}  # it may quote what a provider said
            case "attempt-queued" | "attempt-elsewhere":
                return {"kind": fact}
            case "attempt-started" if request is not None:
                return _who(request)
            case "attempt-waits":
                return {"seconds": fact}
            case "attempt-lost" if request is not None:
                return lambda: {"cause": fact} | _cost(costs, digest, request)
            case "attempt-ended" if request is not None:
                return lambda: _cost(costs, digest, request)
        return None

    return lambda what, key, digest, fact: events.tell(what, key, digest, facts(what, digest, fact))


def opening(study: Study, steps: Collection[Key]) -> dict[str, str]:
    """What every kind of work on a study says at its beginning."""
    return {"namespace": str(study.home), "steps": str(len(steps)), "slots": str(study.limits.slots)}


def setting_out(study: Study, course: Course) -> dict[str, str]:
    """What a sweep says of the way before it, beside `opening`."""
    finished = frozenset(course.finished)
    modes: Json = [[token, part.name] for token, part in study.modes.items()]
    stream: Json = [
        {"domain": domain, "tasks": [item.task for item in work], "before": len(finished.intersection(tasks))}
        for (domain, tasks), work in zip(study.chosen.items(), course.work, strict=True)
    ]
    partly: Json = {
        item.task: list(item.plans) for work in course.work for item in work if len(item.plans) < len(study.modes)
    }
    return {
        "tasks": str(len(course.tasks)),
        "modes": canonical(modes).decode(),
        "stream": canonical(stream).decode(),
        "partly": canonical(partly).decode(),
    }


def _who(request: Request) -> dict[str, str]:
    facts = {"kind": kind_of(request), "role": role_of(request), "model": request.channel.model}
    return facts if isinstance(request, GradeRequest) else facts | {"draw": request.draw.rpartition("/")[2]}


def _cost(costs: Costs, digest: Digest, request: Request) -> dict[str, str]:
    role = role_of(request)
    usage = costs.paid_for({digest: request}).usage.get(role)
    if usage is None:
        return {"role": role}
    return {"role": role, "source": usage.source} | ({} if usage.usd is None else {"usd": usage.usd})
