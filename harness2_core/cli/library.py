"""`harness2 library`: what the modes of an experiment have adopted, task by task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .experiment import Ns, reading_of
from .names import modes, tasks
from .run_options import run_options
from .terminal import one_line, say, say_json, table

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

_Task = Annotated[str, typer.Argument(help="The task whose entry it is.", autocompletion=tasks)]
_Mode = Annotated[str, typer.Option("--mode", help="Mode, where several adopted something.", autocompletion=modes)]


@app.command("list")
@run_options
def list_entries(
    ctx: typer.Context,
    options: tuple[str, ...],
    as_json: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
    ns: Ns = "",
) -> int:
    """List every entry: mode, domain, task, what was adopted, and the lesson's cue."""
    from harness2_core.model.serial import plain
    from harness2_core.sweep.shelves import entries

    study = reading_of(ctx, options, ns).study
    found = entries(study)
    if as_json:
        say_json([plain(entry.adoption) for entry in found])
        return 0
    rows = []
    for entry in found:
        adoption = entry.adoption
        cue = one_line(adoption.lesson.cue)[:80] if adoption.lesson is not None else "(no lesson)"
        rows.append((adoption.mode, adoption.domain, adoption.task, adoption.label, cue))
    say(table(("mode", "domain", "task", "adopted", "cue"), rows) if rows else "the libraries are empty")
    return 0


@app.command("show")
@run_options
def show_entry(ctx: typer.Context, options: tuple[str, ...], task: _Task, mode: _Mode = "", ns: Ns = "") -> int:
    """Print one entry: why it was picked, what its edits did, the lesson, and the changes to base."""
    from harness2_core.method.library import experience_md
    from harness2_core.sweep.modes import mode_meant
    from harness2_core.sweep.shelves import entry_of

    reading = reading_of(ctx, options, ns)
    entry = entry_of(reading.study, task, mode_meant(reading.study, mode))
    say(experience_md(entry.adoption, entry.inventory))
    changes = reading.changes(entry.adoption.tree, entry.adoption.label)
    say(changes.rstrip("\n") or "the adopted harness is the base")
    return 0


@app.command("export")
@run_options
def export_entry(
    ctx: typer.Context,
    options: tuple[str, ...],
    task: _Task,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A directory that does not exist yet.")],
    mode: _Mode = "",
    ns: Ns = "",
) -> int:
    """Write an adopted harness, and its experience, into a directory."""
    from harness2_core.sweep.modes import mode_meant
    from harness2_core.sweep.shelves import entry_of, export

    study = reading_of(ctx, options, ns).study
    export(study, entry_of(study, task, mode_meant(study, mode)), to)
    say(f"written to {to}")
    return 0


@app.command("forget")
@run_options
def forget_entry(ctx: typer.Context, options: tuple[str, ...], task: _Task, mode: _Mode = "", ns: Ns = "") -> int:
    """Hide an entry from all later tasks. What ran with it is not reopened, and its records stay in the store."""
    from harness2_core.sweep.modes import mode_meant
    from harness2_core.sweep.shelves import entry_of, forget

    study = reading_of(ctx, options, ns).study
    entry = entry_of(study, task, mode_meant(study, mode))
    forget(study, entry)
    say(f"forgotten: {entry.adoption.mode} {task}")
    return 0
