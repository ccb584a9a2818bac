"""How near the scheduler comes to the shortest time possible, on a virtual clock.

Durations are log-normal (rollouts 10 min, sessions 5 min, sigma 0.6) and unknown to the scheduler; k = 2, the modes
parallel and sequential. The bound is the larger of the critical path (with the look-ahead edges) and work over slots.
The phase-barrier order does one phase after the other: bases, then each mode's groups of stages and rolls, tasks of a
domain strictly in order, domains side by side as slots allow.

    python benchmarks/makespan.py [--seeds 5] [--json]
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from harness2_core.model.plan import Plan, Roll, Stage, Step, needs
from harness2_core.model.requests import Request, RolloutRequest
from harness2_core.plugins import facade
from harness2_core.plugins.registry import Registry
from harness2_core.sweep.graph import Key, Node
from harness2_core.sweep.slots import Limits
from harness2_core.testing.simulation import Simulation, nodes_of

K, LOOKAHEAD, SIGMA = 2, 2, 0.6
ROLLOUT, SESSION = 600.0, 300.0
CASES: Final = (
    ("6 domains of 20 tasks, 12 slots", {f"d{n}": 20 for n in range(6)}, 12, 1.05),
    ("6 domains of 20 tasks, 16 slots", {f"d{n}": 20 for n in range(6)}, 16, 1.05),
    ("35 domains of 1 to 2 tasks, 16 slots", {f"d{n:02}": 1 + n % 2 for n in range(35)}, 16, 1.06),
)
BARRIER_SLOTS, BARRIER_FACTOR = 24, 1.8


def plans() -> dict[str, Plan]:
    registry = Registry.installed()
    return {
        registry.find("mode", name).token: facade.mode(registry, name).plan(K) for name in ("parallel", "sequential")
    }


def durations(seed: int) -> Callable[[Request], float]:
    """Log-normal with the given means, drawn anew for each draw and kind, the same in every order."""
    scale = math.exp(-(SIGMA**2) / 2)

    def seconds(request: Request) -> float:
        kind = "rollout" if isinstance(request, RolloutRequest) else "session"
        mean = ROLLOUT if kind == "rollout" else SESSION
        return mean * scale * random.Random(f"{seed}:{kind}:{request.draw}").lognormvariate(0, SIGMA)

    return seconds


def bound(
    nodes: Mapping[Key, Node], work: Simulation, seconds: Callable[[Request], float], slots: int
) -> tuple[float, float]:
    """(critical path, work / slots), in seconds."""
    ends: dict[Key, float] = {}
    total = 0.0

    def end(key: Key) -> float:
        if key not in ends:
            began = max((end(need) for need in nodes[key].needs), default=0.0)
            ends[key] = began + max(takes[key], default=0.0)
        return ends[key]

    takes: dict[Key, list[float]] = {}
    for key in nodes:
        takes[key] = [seconds(work.request(key, draw)) for draw in work.draws(key)]
        total += sum(takes[key])
    # a domain's nodes come in the order of its stream, so the recursion stays shallow
    return max(end(key) for key in nodes), total / slots


def barrier(
    sizes: Mapping[str, int], made: Mapping[str, Plan], seconds: Callable[[Request], float], slots: int
) -> float:
    """The makespan of the phase-barrier order on the same durations."""
    work = Simulation(made, K)
    free = [0.0] * slots

    def phase(requests: Sequence[Request], ready: float) -> float:
        ends = [ready]
        for request in requests:
            began = max(heapq.heappop(free), ready)
            heapq.heappush(free, began + seconds(request))
            ends.append(began + seconds(request))
        return max(ends)

    clocks = dict.fromkeys(sizes, 0.0)
    phases = {domain: _phases(domain, count, made, work) for domain, count in sizes.items()}
    waiting = [(0.0, domain) for domain in sizes]
    heapq.heapify(waiting)
    while waiting:
        clock, domain = heapq.heappop(waiting)
        clocks[domain] = phase(phases[domain].pop(0), clock)
        if phases[domain]:
            heapq.heappush(waiting, (clocks[domain], domain))
    return max(clocks.values())


def _phases(domain: str, count: int, made: Mapping[str, Plan], work: Simulation) -> list[list[Request]]:
    """Bases; then mode by mode: stages of a kind, their rolls, compositions, theirs, selection, reflection."""
    found: list[list[Request]] = []
    for number in range(count):
        task = f"{domain}/t{number}"
        bases = Key("bases", task)
        found.append([work.request(bases, draw) for draw in work.draws(bases)])
        for mode, plan in made.items():
            for group in _groups(plan):
                keys = [Key("rolls" if isinstance(step, Roll) else "stage", task, mode, step.label) for step in group]
                found.append([work.request(key, draw) for key in keys for draw in work.draws(key)])
            for what in ("select", "reflect"):
                key = Key(what, task, mode)
                found.append([work.request(key, draw) for draw in work.draws(key)])
    return found


def _groups(plan: Plan) -> list[list[Step]]:
    """Steps of one kind whose needs are met by the groups before: a barrier after each."""
    done: set[tuple[str, str]] = {("roll", label) for label in plan.bases}
    left = list(plan.steps)
    groups: list[list[Step]] = []
    while left:
        ready = [step for step in left if set(needs(step)) <= done]
        kind = Stage if any(isinstance(step, Stage) for step in ready) else Roll
        rolls = [step for step in ready if isinstance(step, Roll)]
        group: list[Step] = [*rolls] if rolls else [step for step in ready if isinstance(step, kind)]
        groups.append(group)
        done |= {("roll" if isinstance(step, Roll) else "stage", step.label) for step in group}
        left = [step for step in left if step not in group]
    return groups


def measure(seeds: int) -> list[dict[str, object]]:
    made = plans()
    rows: list[dict[str, object]] = []
    for name, sizes, slots, most in CASES:
        ratios = []
        for seed in range(seeds):
            work, nodes, seconds = Simulation(made, K), nodes_of(sizes, made, LOOKAHEAD), durations(seed)
            _, took = work.run(nodes, seconds, Limits(slots))
            ratios.append(took / max(bound(nodes, work, seconds, slots)))
        rows.append(
            {
                "case": name,
                "over_bound": [round(r, 4) for r in ratios],
                "worst": round(max(ratios), 4),
                "promised": f"at most {most}",
                "holds": max(ratios) <= most,
            }
        )
    sizes, ratios = CASES[0][1], []
    for seed in range(seeds):
        work, seconds = Simulation(made, K), durations(seed)
        _, took = work.run(nodes_of(sizes, made, LOOKAHEAD), seconds, Limits(BARRIER_SLOTS))
        ratios.append(barrier(sizes, made, seconds, BARRIER_SLOTS) / took)
    rows.append(
        {
            "case": f"6 domains of 20 tasks, {BARRIER_SLOTS} slots: phase barriers take so many times as long",
            "times": [round(r, 3) for r in ratios],
            "worst": round(min(ratios), 3),
            "promised": f"at least {BARRIER_FACTOR}",
            "holds": min(ratios) >= BARRIER_FACTOR,
        }
    )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print only the JSON line")
    given = parser.parse_args()
    rows = measure(given.seeds)
    if not given.json:
        for row in rows:
            print(f"{row['case']:<78} worst {row['worst']}  {row['promised']}  {'holds' if row['holds'] else 'BROKEN'}")
    print(json.dumps(rows))
    return 0 if all(row["holds"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
