"""`harness2 demo`: improves the example harness on the example tasks, judges it, and shows what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from harness2_core.api import ConfigError, Happened, Harness2Error, Sandbox
from harness2_core.sweep.read import read
from harness2_core.sweep.run import Config, Registry, Stop, asked_by_signals, judge_sweep, run_sweep

from .demo_config import write_config
from .demo_report import SCRIPTED, report_data, report_lines
from .demo_result import demo_result
from .example_files import copy_to, example_domains

NOT_ALL: Final = 2
"""Exit code when a mode that edits came to nothing on some task."""


def command() -> typer.Typer:
    """The factory of the command."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    app.command()(demo)
    return app


def demo(
    ctx: typer.Context,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Runs directory.")] = Path("harness2-demo"),
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, help="Base rollouts, and edits of each kind.")] = 2,
    modes: Annotated[
        str, typer.Option("--modes", metavar="A,B", help="Modes side by side; the last two are controls.")
    ] = "parallel,sequential,sampling,null",
    domains: Annotated[str, typer.Option("--domains", metavar="A,B", help="Only these domains of the examples.")] = "",
    copy: Annotated[
        Path | None, typer.Option("--copy-to", metavar="DIR", help="Copy the examples there, and run nothing.")
    ] = None,
    no_live: Annotated[
        bool, typer.Option("--plain", "--no-live", help="Lines instead of the live view, on a terminal too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> int:
    """Improve a program on example tasks, with a script in the place of the model; a second time pays nothing."""
    if copy is not None:
        return _copied(copy)
    registry: Registry = ctx.obj.registry()
    wanted = tuple(_known_modes(registry, modes))
    missing = _no_sandbox(registry)
    file = write_config(to, k, wanted, tuple(_known_domains(domains)), "none" if missing else "auto")
    config = Config.load(file, {})  # the demo is the same whatever variables are set
    if not as_json:
        typer.echo(f"{SCRIPTED}\n")
    if missing:
        _notice(
            f"without a sandbox ({missing}): the programs of the demo, which come with it, run with your own rights"
        )
    with ctx.obj.watching(no_live, Progress()) as view, asked_by_signals(Stop(), view.tell) as stop:
        told = (view.listener,)
        result = run_sweep(config, registry=registry, listeners=told, stop=stop, notice=_notice)
        if result.left:
            return _left(result.exit_code, result.stopped, len(result.left))
        judged = judge_sweep(config, "bases", registry=registry, listeners=told, stop=stop, notice=_notice)
        if judged.interrupted:
            return _left(128 + judged.signal, "", len(judged.ungraded))
    shown = demo_result(file, read(config, registry), wanted, judged.rows, result.paid, judged.paid)
    typer.echo(json.dumps(report_data(shown), indent=2) if as_json else "\n".join(report_lines(shown)))
    return NOT_ALL if shown.failed else 0


class Progress:
    """A listener for those who see no live view: one line on standard error for each task that ends."""

    def __init__(self) -> None:
        self._ended = 0
        self._tasks = "?"

    def __call__(self, event: Happened) -> None:
        if event.what == "sweep-started":
            self._tasks = event.facts["tasks"]
        elif event.what == "step-ended" and event.kind == "finish":
            self._ended += 1
            typer.echo(f"{self._ended} of {self._tasks}  {event.task}", err=True)


def _copied(folder: Path) -> int:
    copied = copy_to(folder)
    typer.echo(f"copied {len(copied)} files to {folder}; change tasks, programs and playbooks as you like, then")
    file = folder / "harness2.toml"
    for step in ("plan", "run", "judge --bases", "show"):
        typer.echo(f"  harness2 --config {file} {step}")
    return 0


def _left(code: int, why: str, count: int) -> int:
    typer.echo(f"stopped{f': {why}' if why else ''}; {count} left. The same command goes on from here.", err=True)
    return code


def _no_sandbox(registry: Registry) -> str:
    """Why the default sandbox cannot be used; empty when it can. A run of one's own is refused for that."""
    try:
        made = registry.make("sandbox", registry.default("sandbox"), None)
    except Harness2Error as error:
        return error.what
    return made.works() if isinstance(made, Sandbox) else ""


def _notice(text: str) -> None:
    typer.echo(text, err=True)


def _known_modes(registry: Registry, given: str) -> Iterator[str]:
    names = _listed(given)
    for name in names:
        yield registry.find("mode", name).name
    if not names:
        raise ConfigError("--modes names no mode", f"known are {', '.join(registry.names('mode'))}")


def _known_domains(given: str) -> Iterator[str]:
    known = example_domains()
    for name in _listed(given):
        if name not in known:
            raise ConfigError(f"the examples have no domain {name!r}", f"known are {', '.join(known)}")
        yield name


def _listed(given: str) -> Sequence[str]:
    return tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
