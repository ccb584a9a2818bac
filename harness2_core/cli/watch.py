"""`harness2 watch`: the live view of a run of another process, from its log of events."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Final

import typer

from harness2_core import HOME
from harness2_core.model.errors import ConfigError
from harness2_core.model.exits import NOT_DONE, ended_by
from harness2_core.model.namespace import parse_namespace
from harness2_core.model.nearest import near
from harness2_core.plugins.run_settings import run_settings
from harness2_core.sweep.event_log import NAME, Follower, held
from harness2_core.sweep.experiments import begun
from harness2_core.sweep.signals import asked_by_signals
from harness2_core.sweep.stop import Stop

from .invocation import Invocation
from .live.following import Sweeps
from .live.state import State
from .live.watching import Watching, watching
from .names import namespaces
from .run_options import NoLive
from .terminal import say, warn

LOOK_SECONDS: Final = 0.25
"""How often the log is looked at."""


def watch(
    ctx: typer.Context,
    ns: Annotated[
        str, typer.Option("--ns", metavar="NAMESPACE", help="Experiment; else the newest.", autocompletion=namespaces)
    ] = "",
    runs: Annotated[str, typer.Option("--runs", metavar="DIR", help="Runs directory.")] = "",
    no_live: NoLive = False,
) -> int:
    """Follow a run that another process does, or wait for one. Ends with it, and with its exit code."""
    invocation: Invocation = ctx.obj
    folder = run_settings(invocation.config([f"run.runs={runs}"] if runs else [])).runs
    name = _known(folder, ns) if ns else ""
    state = State()
    with watching(no_live) as view, asked_by_signals(Stop(), _nothing) as stop:
        while not stop.level and not state.doing:
            log = _log(folder, name, stop)
            state = _follow(log, view, stop) if log is not None else state
    if stop.level:
        return ended_by(stop.signal)
    if state.exit is None:
        warn(f"{state.namespace}: the run was killed, or an error ended it; its command goes on from there")
        return NOT_DONE
    say(f"{state.namespace}: the run has ended with exit code {state.exit}")
    return state.exit


def _log(folder: Path, name: str, stop: Stop) -> Path | None:
    """The log of a sweep that runs: of the experiment `name`, or the newest. Waits for one until asked to stop."""
    before: dict[Path, int] | None = None
    while not stop.level:
        names = (name,) if name else tuple(map(str, begun(folder)))
        sizes = {log: log.stat().st_size for one in names if (log := folder / "adapt" / one / NAME).is_file()}
        for log, size in sizes.items():
            # Where nobody can tell whether one runs, the log may say so. One that has grown had a short one.
            if held(log) is not False or (before is not None and size > before.get(log, 0)):
                warn(f"watching {log.parent.name}")
                return log
        if before is None:
            warn(f"nothing runs in {folder}{f' of {name}' if name else ''}: waiting")
            before = sizes
        time.sleep(LOOK_SECONDS)
    return None


def _follow(log: Path, view: Watching, stop: Stop) -> State:
    """Shows what the log tells until no sweep goes on. The last state of the one shown; none where there was none."""
    sweeps, follower = Sweeps(), Follower(log)
    try:
        while not stop.level:
            alive = held(log)  # asked before: what was written until then is read now
            for event in follower.news():
                if event is None:
                    sweeps = Sweeps()
                    continue
                sweeps.take(event)
                if event.sweep == sweeps.shown:
                    view.listener(event)
            turned = sweeps.turn_to(alive)
            if turned is not None:
                view.show(turned)
            elif sweeps.over(alive):
                return sweeps.last()
            time.sleep(LOOK_SECONDS)
    finally:
        follower.close()
    return State()


def _known(folder: Path, ns: str) -> str:
    """The home namespace of an experiment that has begun, from any of its modes'."""
    home, known = str(parse_namespace(ns).of_mode(HOME)), [str(namespace) for namespace in begun(folder)]
    if home not in known:
        raise ConfigError(
            f"{folder} has no experiment {home!r}", f"{near(home, known)}known are {', '.join(known[:20]) or 'none'}"
        )
    return home


def _nothing(text: str) -> None:
    """Whoever stops watching needs no words about a run that goes on."""
