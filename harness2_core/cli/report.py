"""`harness2 report`: base and adopted side by side, what it took, and all that a reader of the numbers has to know."""

from __future__ import annotations

from typing import Annotated

import typer

from harness2_core.model.errors import ConfigError
from harness2_core.model.exits import DONE, NOT_DONE

from .experiment import Ns, reading_of
from .run_options import run_options
from .terminal import say, say_json, warn


@run_options
def report(
    ctx: typer.Context,
    options: tuple[str, ...],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one line for each task and mode as CSV.")] = False,
    ns: Ns = "",
) -> int:
    """Report an experiment: base beside adopted for each mode and domain, what was paid, what to keep in mind."""
    from harness2_core.sweep.report import report_of

    from .report_text import csv_text, report_data, report_lines

    if as_json and as_csv:
        raise ConfigError("--json and --csv are two forms of one report", "give one of them")
    found = report_of(reading_of(ctx, options, ns))
    if found.empty:
        warn(f"nothing to report: {found.namespace} has not begun; `harness2 run` begins it")
        return NOT_DONE
    if as_json:
        say_json(report_data(found))
    elif as_csv:
        say(csv_text(found.tasks).rstrip("\n"))
    else:
        say("\n".join(report_lines(found)))
    return DONE
