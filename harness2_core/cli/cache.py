"""`harness2 cache`: how much the store holds, what of it nothing refers to, whether its bytes are as they were."""

from __future__ import annotations

from typing import Annotated

import typer
from attrs import asdict

from harness2_core.model.exits import DONE, NOT_DONE
from harness2_core.plugins.run_settings import run_settings
from harness2_core.sweep.cache import BLOB, Held, Wrong, store_of
from harness2_core.sweep.cache import stats as held_in
from harness2_core.sweep.cache import verify as verified
from harness2_core.sweep.pruning import prune as pruned
from harness2_core.sweep.pruning import unused

from .invocation import Invocation
from .run_options import run_options
from .terminal import one_line, say, say_json, table, warn

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.command()
@run_options
def stats(
    ctx: typer.Context,
    options: tuple[str, ...],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Count what the store holds, by kind."""
    invocation: Invocation = ctx.obj
    found = held_in(store_of(invocation.config(options), invocation.registry()))
    if as_json:
        say_json([asdict(item) for item in found])
        return
    rows = [(item.kind, f"{item.count:,}", readable(item.size)) for item in found]
    rows.append(("all", f"{sum(item.count for item in found):,}", readable(sum(item.size for item in found))))
    say(table(("kind", "count", "size"), rows))


@app.command()
@run_options
def prune(
    ctx: typer.Context,
    options: tuple[str, ...],
    delete: Annotated[bool, typer.Option("--delete", help="Delete it; without this, only tell.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Find what no experiment of the runs directory refers to, and delete it if told to.

    A store that several runs directories share must not be pruned: the others' experiments are not looked through.
    """
    invocation: Invocation = ctx.obj
    registry, config = invocation.registry(), invocation.config(options)
    store, runs = store_of(config, registry), run_settings(config).runs
    found = pruned(store, runs) if delete else unused(store, runs)
    if as_json:
        records = [{"kind": kind, "key": key} for kind, key in found.records]
        say_json({**asdict(found), "records": records, "deleted": delete})
        return
    say(f"looked through {len(found.experiments)} experiments in {runs}, which refer to {found.kept_blobs:,} blobs")
    for name in found.experiments:
        say(f"  {name}")
    what = f"{len(found.blobs):,} blobs and {len(found.records):,} records, {readable(found.size)}"
    say(f"deleted: {what}" if delete else f"nothing refers to {what}")
    if not delete and (found.blobs or found.records):
        say("`harness2 cache prune --delete` deletes them; do not run anything meanwhile")


@app.command()
@run_options
def verify(
    ctx: typer.Context,
    options: tuple[str, ...],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Read every byte of the store and name what is damaged. Exit code 1: something is."""
    invocation: Invocation = ctx.obj
    wrong: list[Wrong] = []
    read: list[Held] = []
    for item in verified(store_of(invocation.config(options), invocation.registry())):
        if isinstance(item, Held):
            read.append(item)
            continue
        wrong.append(item)
        if not as_json:
            say(f"damaged: {item.kind} {one_line(item.key)}: {item.what}")
            say(f"  {item.remedy}")
    if as_json:
        say_json({"damaged": [asdict(item) for item in wrong], "read": [asdict(item) for item in read]})
    else:
        blobs = sum(item.count for item in read if item.kind == BLOB)
        records = sum(item.count for item in read) - blobs
        size = readable(sum(item.size for item in read))
        say(f"read {blobs:,} blobs and {records:,} records, {size}: {len(wrong) or 'nothing'} damaged")
    if wrong:
        warn(
            f"{len(wrong)} damaged: what is deleted is made anew by the next run, of finished tasks with `--retry dead`"
        )
    return NOT_DONE if wrong else DONE


def readable(size: int) -> str:
    """Bytes for people."""
    amount, units = float(size), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{size:,} bytes" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"
