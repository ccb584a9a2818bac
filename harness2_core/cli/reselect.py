"""`harness2 reselect`: another selector votes on the stored finals; adopts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from .experiment import Ns, chosen
from .names import selectors
from .run_options import NoLive, run_options
from .terminal import one_line, say, say_json, table, warn

if TYPE_CHECKING:
    from harness2_core.sweep.reselecting import Reselected

WHY_CHARS: Final = 240
"""Of a reason: room for what `pairwise` tells of its bias."""


@run_options
def reselect(
    ctx: typer.Context,
    options: tuple[str, ...],
    voter: Annotated[
        str,
        typer.Option(
            "--selector", "--by", metavar="NAME", help="The selector that votes again.", autocompletion=selectors
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the picks as JSON.")] = False,
    no_live: NoLive = False,
    ns: Ns = "",
) -> int:
    """Vote again on every finished task with another selector, and set its picks beside the first ones.

    Adopts nothing. Who has voted is not asked again, unless it failed or the task has other finals by now.
    """
    from harness2_core.model.serial import plain  # here: the shell completes names without all this
    from harness2_core.sweep.run import reselect_sweep
    from harness2_core.sweep.signals import asked_by_signals
    from harness2_core.sweep.stop import Stop
    from harness2_core.sweep.votes import failed

    from .live.watching import watching

    config, registry = chosen(ctx, options, ns)
    with watching(no_live) as view, asked_by_signals(Stop(), view.tell) as stop:
        result = reselect_sweep(config, voter, registry=registry, listeners=(view.listener,), stop=stop, notice=warn)
    if as_json:
        say_json([plain(row) for row in result.rows])
    else:
        say(_table(result))
        votes = [(row.first, row.second) for row in result.rows if row.second is not None and not failed(row.second)]
        same = sum(first.chosen == second.chosen for first, second in votes)
        say(f"{voter} agrees on {same} of {len(votes)}; paid for {result.paid.sessions} sessions now")
    if not (result.rows or result.interrupted):
        warn("nothing to vote on: run the experiment first")
    return result.exit_code


def _table(result: Reselected) -> str:
    from harness2_core.sweep.votes import failed

    rows = []
    for row in result.rows:
        second = row.second
        note = ""
        if second is not None and failed(second):
            note = f"failed: {one_line(second.error)}"
        elif second is not None:
            note = one_line(second.why or second.error)[:WHY_CHARS]
        rows.append((row.task, row.mode, row.first.chosen, second.chosen if second is not None else "-", note))
    return table(("task", "mode", "first", "second", "why"), rows)
