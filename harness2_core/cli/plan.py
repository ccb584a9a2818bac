"""`harness2 plan`: the dry run. Prints the stream, the plans and their counts; pays nothing, starts nothing."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.namespace import Namespace
from harness2_core.model.plan import Plan, Roll
from harness2_core.sweep.estimate import Estimate, estimate
from harness2_core.sweep.ledger import ledger_of
from harness2_core.sweep.reopening import is_finished, unfinished_modes
from harness2_core.sweep.setup import study_of
from harness2_core.sweep.study import Study

from .invocation import Invocation
from .run_options import run_options
from .terminal import one_line, say, say_json


@run_options
def plan(
    ctx: typer.Context,
    options: tuple[str, ...],
    steps: Annotated[bool, typer.Option("--steps", help="Also list every step of each mode's plan.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Show what `run` would do: the stream, rollouts and sessions of each mode, and what is finished already."""
    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(options)
    study = study_of(config, registry, dry=True)
    if as_json:
        say_json(_as_data(study))
        return 0
    say(f"experiment  {study.home}")
    say(f"runs        {study.runs}")
    say(f"library     {study.runs / 'library' / study.home.bench / study.home.library}")
    for note in study.notes:
        say(f"note        {note}")
    for token, part in study.modes.items():
        say(f"mode        {part.name} ({token}): {_counts(part.plan)}, namespace {study.namespace(token)}")
        if steps:
            for line in step_lines(part.plan):
                say(f"              {line}")
    number = 0
    for domain, tasks in study.chosen.items():
        say(f"domain      {one_line(domain)} ({len(tasks)} tasks)")
        for task in tasks:
            number += 1
            left = "finished" if is_finished(study, task) else "to do: " + ", ".join(unfinished_modes(study, task))
            say(f"  {number:>4}  {one_line(task)}  {left}")
    say(f"to do: {_estimate(study).words()}")
    return 0


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


def _as_data(study: Study) -> dict[str, object]:
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
