"""`harness2 run`: checks first, then runs or resumes the experiment that the configuration describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness2_core.model.exits import STOPPED_BY_BUDGET

from .invocation import Invocation
from .names import tasks
from .run_options import NoLive, run_options
from .terminal import say, say_json, warn

if TYPE_CHECKING:
    from harness2_core.model.channel import Usage
    from harness2_core.sweep.result import SweepResult


@run_options
def run(
    ctx: typer.Context,
    options: tuple[str, ...],
    retry: Annotated[
        list[str] | None,
        typer.Option(
            "--retry", metavar="partial|dead|TASK", help="Open finished tasks again. Repeatable.", autocompletion=tasks
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Serve nothing that open tasks have already.")] = False,
    no_live: NoLive = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Improve the harness on every task of the stream, or go on where an earlier run stopped."""
    from harness2_core.sweep.checking import check_study  # here: the shell completes names without all this
    from harness2_core.sweep.run import Again, run_sweep
    from harness2_core.sweep.signals import asked_by_signals
    from harness2_core.sweep.stop import Stop

    from .live.watching import watching

    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(options)
    with watching(no_live) as view, asked_by_signals(Stop(), view.tell) as stop:
        check_study(config, registry)
        result = run_sweep(
            config,
            registry=registry,
            again=Again(tuple(retry or ()), no_cache),
            listeners=(view.listener,),
            stop=stop,
            notice=warn,
        )
    if as_json:
        from harness2_core.model.serial import plain

        say_json(plain(result))
    else:
        tell_result(result)
    return result.exit_code


def tell_result(result: SweepResult) -> None:
    """What came of it, for people."""
    counts: dict[str, int] = {}
    for status in result.statuses.values():
        counts[status] = counts.get(status, 0) + 1
    done = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no task has ended"
    before = f" ({len(result.skipped)} of them before)" if result.skipped else ""
    say(f"{result.namespace}: {done}{before}")
    for task, status in result.statuses.items():
        if status != "ok":
            say(f"  {task}: {status}")
    if result.paid.nothing:
        say("paid: nothing" if result.left else "paid: nothing; everything was served from the store")
    else:
        lost = f", {result.paid.lost} attempts lost" if result.paid.lost else ""
        say(f"paid: {result.paid.rollouts} rollouts, {result.paid.sessions} sessions{lost}")
        for role, usage in result.paid.usage.items():
            say(f"  {role}: {usd(usage)}")
    if result.left:
        say(f"not finished: {len(result.left)} ({', '.join(result.left[:5])}{', ...' if len(result.left) > 5 else ''})")
        by_budget = result.exit_code == STOPPED_BY_BUDGET
        say("run it again with a higher limit to go on" if by_budget else "run the same command again to go on")
    for step, why in list(result.held.items())[:5]:
        say(f"  {step}: {why}")
    if result.stopped:
        say(f"stopped: {result.stopped}")


def usd(usage: Usage) -> str:
    """An amount for people; no model is no price, unknown is not zero."""
    if usage.source == "none":
        return "no model took part"
    return "price unknown" if usage.usd is None else f"{usage.usd} USD ({usage.source})"
