"""The graph of a sweep: one node for each thing that must come to be, and what it needs first.

Pure: from the stream and the plans to nodes. A node's body (in `bodies.py`) may ask for paid work; its kind says which,
for the expected length of the way that still lies behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from harness2_core.model.plan import BASE, Plan, Stage, needs


@frozen(order=True, cache_hash=True)
class Key:
    """`what` is one of open, bases, view, rolls, stage, select, reflect, close, finish."""

    what: str
    task: str
    mode: str = ""
    label: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.task, self.mode, self.label) if part)


@frozen
class Node:
    """`paid` is `rollout`, `session` or empty: what its body is expected to ask for; `order` its place in the plan."""

    key: Key
    needs: tuple[Key, ...]
    paid: str
    order: int


@frozen
class Work:
    """What one task still has to do: mode token -> plan. `finished` modes of the task are not in it."""

    task: str
    domain: str
    plans: Mapping[str, Plan]


def graph(stream: Sequence[Sequence[Work]], lookahead: int) -> dict[Key, Node]:
    """Nodes of all tasks; `stream` holds a sequence of tasks a domain, in order.

    Within a domain, a mode's view of the library needs the same mode of the task before; the bases of a task are
    rolled once the task `lookahead + 1` places before it is finished.
    """
    nodes: dict[Key, Node] = {}
    same: dict[Key, Key] = {}
    """One object for each key: each is named by several nodes, and there are tens of thousands."""
    for domain in stream:
        for index, work in enumerate(domain):
            gate = domain[index - lookahead - 1].task if index > lookahead else ""
            before = domain[index - 1] if index else None
            for key, wanted, paid in _task(work, before, gate):
                mine, needs = same.setdefault(key, key), tuple(same.setdefault(other, other) for other in wanted)
                nodes[mine] = Node(mine, needs, paid, len(nodes))
    return nodes


def rolls_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Tree source (`base` or a stage's label) -> labels of the rolls that run it: they are asked for together."""
    sources: dict[str, tuple[str, ...]] = {}
    for roll in plan.rolls:
        sources[roll.tree] = (*sources.get(roll.tree, ()), roll.label)
    return sources


def _task(work: Work, before: Work | None, gate: str) -> Iterator[tuple[Key, tuple[Key, ...], str]]:
    task = work.task
    opened, bases = Key("open", task), Key("bases", task)
    in_order = (Key("open", before.task),) if before else ()  # budgets admit the tasks of a domain in stream order
    yield opened, (*in_order, *((Key("finish", gate),) if gate else ())), ""
    yield bases, (opened,), "rollout"
    for mode, plan in work.plans.items():
        view = Key("view", task, mode)
        former = before is not None and mode in before.plans
        yield view, (bases, Key("close", before.task, mode)) if former and before else (bases,), ""
        yield from _mode(task, mode, plan, view)
    yield Key("finish", task), tuple(Key("close", task, mode) for mode in work.plans) or (bases,), ""


def _mode(task: str, mode: str, plan: Plan, view: Key) -> Iterator[tuple[Key, tuple[Key, ...], str]]:
    sources = rolls_of(plan)
    source_of = {label: source for source, labels in sources.items() for label in labels}

    def key_of(need: tuple[str, str]) -> Key:
        kind, label = need
        if kind == "stage":
            return Key("stage", task, mode, label)
        return Key("rolls", task, mode, source_of[label]) if label in source_of else Key("bases", task)

    done: list[Key] = []
    seen: set[str] = set()
    for step in plan.steps:
        if isinstance(step, Stage):
            key = Key("stage", task, mode, step.label)
            yield key, tuple(dict.fromkeys((view, *map(key_of, needs(step))))), "session"
        elif step.tree in seen:
            continue
        else:
            seen.add(step.tree)
            key = Key("rolls", task, mode, step.tree)
            yield key, (view,) if step.tree == BASE else (view, Key("stage", task, mode, step.tree)), "rollout"
        done.append(key)
    select, reflect, close = Key("select", task, mode), Key("reflect", task, mode), Key("close", task, mode)
    finals = tuple(dict.fromkeys(key_of(("roll", label)) for label in plan.finals))
    yield select, tuple(dict.fromkeys((view, *finals))), "session" if len(plan.finals) > 1 else ""
    yield reflect, (select, *done), "session" if plan.learns else ""
    yield close, (reflect,), ""
