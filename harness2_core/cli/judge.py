"""`harness2 judge`: grades what was delivered, after the method is done with it."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.exits import NOT_DONE, SOME_NOT_OK, ended_by

from .experiment import Ns, chosen
from .run_options import NoLive, run_options
from .terminal import say, say_json, warn


@run_options
def judge(
    ctx: typer.Context,
    options: tuple[str, ...],
    bases: Annotated[bool, typer.Option("--bases", help="Grade the bases too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Grade every rollout.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
    no_live: NoLive = False,
    ns: Ns = "",
) -> int:
    """Grade what the modes delivered, and what other selectors picked.

    What is graded completely is not graded again.
    """
    from harness2_core.sweep.judging import ALL, BASES, FINALS  # here: the shell completes names without all this
    from harness2_core.sweep.run import judge_sweep
    from harness2_core.sweep.signals import asked_by_signals
    from harness2_core.sweep.stop import Stop

    from .judge_text import row_data, rows_table
    from .live.watching import watching

    config, registry = chosen(ctx, options, ns)
    which = ALL if every else BASES if bases else FINALS
    with watching(no_live) as view, asked_by_signals(Stop(), view.tell) as stop:
        judged = judge_sweep(config, which, registry=registry, listeners=(view.listener,), stop=stop, notice=warn)
    if as_json:
        say_json([row_data(row) for row in judged.rows])
    else:
        say(rows_table(judged.rows))
        graded = len(judged.rows) - len(judged.ungraded)
        say(f"graded {graded} of {len(judged.rows)}; paid for {judged.paid.gradings} gradings now")
    if judged.interrupted:
        return ended_by(judged.signal)
    if not judged.rows:
        warn("nothing to judge: run the experiment first")
        return NOT_DONE
    return SOME_NOT_OK if judged.ungraded else 0
