"""What a run would do, as lines for people and as data."""

from __future__ import annotations

from collections.abc import Iterator

from harness2_core.model.namespace import Namespace
from harness2_core.model.plan import Plan, Roll
from harness2_core.sweep.estimate import Estimate, estimate
from harness2_core.sweep.ledger import ledger_of
from harness2_core.sweep.reopening import is_finished, unfinished_modes
from harness2_core.sweep.study import Study

from .terminal import one_line


def plan_lines(study: Study, steps: bool) -> Iterator[str]:
    """The experiment, its modes (with `steps`, every step of their plans), the stream, and what is left to do."""
    yield f"experiment  {study.home}"
    yield f"runs        {study.runs}"
    yield f"library     {study.runs / 'library' / study.home.bench / study.home.library}"
    for note in study.notes:
        yield f"note        {note}"
    for token, part in study.modes.items():
        yield f"mode        {part.name} ({token}): {_counts(part.plan)}, namespace {study.namespace(token)}"
        if steps:
            for line in step_lines(part.plan):
                yield f"              {line}"
    number = 0
    for domain, tasks in study.chosen.items():
        yield f"domain      {one_line(domain)} ({len(tasks)} tasks)"
        for task in tasks:
            number += 1
            left = "finished" if is_finished(study, task) else "to do: " + ", ".join(unfinished_modes(study, task))
            yield f"  {number:>4}  {one_line(task)}  {left}"
    yield f"to do: {_estimate(study).words()}"


def step_lines(plan: Plan) -> list[str]:
    """One line for each step, in plan order."""
    lines = [f"roll   {', '.join(plan.bases)}  (base, shared by all modes)"]
    for step in plan.steps:
        if isinstance(step, Roll):
            lines.append(f"roll   {step.label}  tree of {step.tree}")
        else:
            sees = ", ".join((*step.rollouts, *step.pool))
            lines.append(f"stage  {step.label}  template {step.template}, edits {step.start}, sees {sees}")
    return [*lines, f"finals {', '.join(plan.finals)}"]


def _counts(plan: Plan) -> str:
    return f"{plan.rollouts} rollouts ({len(plan.bases)} bases shared), {plan.sessions} sessions a task"


def _estimate(study: Study) -> Estimate:
    return estimate(study, ledger_of(study))


def plan_data(study: Study) -> dict[str, object]:
    home: Namespace = study.home
    left = _estimate(study)
    return {
        "namespace": str(home),
        "modes": {
            token: {
                "name": part.name,
                "namespace": str(study.namespace(token)),
                "rollouts": part.plan.rollouts,
                "sessions": part.plan.sessions,
                "steps": step_lines(part.plan),
            }
            for token, part in study.modes.items()
        },
        "stream": [
            {"domain": domain, "task": task, "finished": is_finished(study, task)}
            for domain, tasks in study.chosen.items()
            for task in tasks
        ],
        "left": {
            "rollouts": left.rollouts,
            "sessions": left.sessions,
            "usd": None if left.usd is None else f"{left.usd:f}",
        },
        "notes": list(study.notes),
    }
