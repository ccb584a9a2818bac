"""Which modes are one procedure under two names: their plans differ in labels only. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve

from harness2_core.model.plan import Plan, Roll


def alike(plans: Mapping[str, Plan]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more modes whose plans are the same but for labels: what they differ by is noise."""
    groups: dict[Plan, list[str]] = {}
    for name, plan in plans.items():
        groups.setdefault(_unlabelled(plan), []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _unlabelled(plan: Plan) -> Plan:
    """The plan with every label but the bases' named by its place."""
    labels = dict.fromkeys(step.label for step in plan.steps)
    names = {label: f"step{number}" for number, label in enumerate(labels, 1)}

    def named(label: str) -> str:
        return names.get(label, label)

    def all_named(listed: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(named, listed))

    steps = tuple(
        evolve(step, label=named(step.label), tree=named(step.tree))
        if isinstance(step, Roll)
        else evolve(
            step,
            label=named(step.label),
            start=named(step.start),
            rollouts=all_named(step.rollouts),
            pool=all_named(step.pool),
            decisions=all_named(step.decisions),
        )
        for step in plan.steps
    )
    return evolve(plan, steps=steps, finals=all_named(plan.finals))
