"""`harness2 reselect`: another selector votes on the stored finals; adopts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness2_core.model.exits import NOT_DONE, SOME_NOT_OK, ended_by

from .experiment import Ns, chosen
from .names import selectors
from .run_options import NoLive, run_options
from .terminal import one_line, say, say_json, table, warn

if TYPE_CHECKING:
    from harness2_core.sweep.reselecting import Reselected


@run_options
def reselect(
    ctx: typer.Context,
    options: tuple[str, ...],
    voter: Annotated[
        str,
        typer.Option("--by", metavar="NAME", help="The selector that votes again.", autocompletion=selectors),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the picks as JSON.")] = False,
    no_live: NoLive = False,
    ns: Ns = "",
) -> int:
    """Vote again on every finished task with another selector, and set its picks beside the first ones."""
    from harness2_core.model.serial import plain  # here: the shell completes names without all this
    from harness2_core.sweep.run import reselect_sweep
    from harness2_core.sweep.signals import asked_by_signals
    from harness2_core.sweep.stop import Stop

    from .live.watching import watching

    config, registry = chosen(ctx, options, ns)
    with watching(no_live) as view, asked_by_signals(Stop(), view.tell) as stop:
        result = reselect_sweep(config, voter, registry=registry, listeners=(view.listener,), stop=stop, notice=warn)
    if as_json:
        say_json([plain(row) for row in result.rows])
    else:
        say(_table(result))
        both = [row for row in result.rows if row.second is not None]
        same = sum(1 for row in both if row.second is not None and row.first.chosen == row.second.chosen)
        say(f"{voter} agrees on {same} of {len(both)}; paid for {result.paid.sessions} sessions now")
    if result.interrupted:
        return ended_by(result.signal)
    if not result.rows:
        warn("nothing to vote on: run the experiment first")
        return NOT_DONE
    return SOME_NOT_OK if result.left else 0


def _table(result: Reselected) -> str:
    rows = []
    for row in result.rows:
        second = row.second
        note = ""
        if second is not None and second.fallback:
            note = f"failed, first in ballot order: {one_line(second.error)}"
        elif second is not None:
            note = one_line(second.why)[:80]
        rows.append((row.task, row.mode, row.first.chosen, second.chosen if second is not None else "-", note))
    return table(("task", "mode", "first", "second", "why"), rows)
