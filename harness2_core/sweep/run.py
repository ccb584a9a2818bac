"""`run_sweep`, `judge_sweep`, `reselect_sweep`: the ways in. They set up a study, run its graph, say what came of it.

No signal handlers, no global state: they run in a notebook's thread, and twice in one process. Signals are the command
line's matter; it asks through `Stop`. What else a command plugin needs is exported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from harness2_core.api.runtime import Engine
from harness2_core.model.canonical import Digest
from harness2_core.model.frozen import strings
from harness2_core.model.records import Summary
from harness2_core.model.requests import Request
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import run_settings
from harness2_core.work.leftovers import end_unclaimed
from harness2_core.work.worker import perform

from . import readable
from .binding import identified
from .blaming import BlamedEngine
from .bodies import body
from .budget import Budget, Caps
from .course import course_of
from .estimate import check_caps, estimate, sessions_besides, sessions_of
from .events import Events, Listener, utc_now
from .files import write_whole
from .graph import Key, graph
from .judges import bench_of
from .judging import Judged, judge_rows
from .ledger import ledger_of
from .mending import mend, write_begun
from .outcomes import Result
from .picking import Vote
from .prepare import Prepare
from .reopening import reopened
from .reselecting import Reselected, reselect, vote_of
from .result import Paid, SweepResult
from .scheduler import Outcome, Scheduler
from .setup import study_of
from .signals import asked_by_signals
from .spending import Costs
from .stop import Stop
from .study import Study
from .telling import opening, setting_out, teller

__all__ = [
    "Again",
    "Config",
    "Judged",
    "Listener",
    "Paid",
    "Registry",
    "Reselected",
    "Stop",
    "SweepResult",
    "asked_by_signals",
    "judge_sweep",
    "reselect_sweep",
    "run_sweep",
    "unheard",
]


@frozen
class Again:
    """What of the finished work an invocation takes up again: `partial`, `dead`, or names of tasks.

    `no_cache` draws open tasks anew, serving nothing from former attempts; finished ones stay finished.
    """

    retry: tuple[str, ...] = ()
    no_cache: bool = False


def unheard(text: str) -> None:
    """The default of `notice`: remarks go nowhere; the result has the lasting ones too."""


def run_sweep(
    config: Config,
    *,
    registry: Registry | None = None,
    again: Again = Again(),
    listeners: Sequence[Listener] = (),
    stop: Stop | None = None,
    engine: Engine | None = None,
    notice: Callable[[str], None] = unheard,
) -> SweepResult:
    """Runs, or goes on with, the experiment that `config` describes, and returns what this invocation came to.

    `listeners` are told what happens, on a thread of their own; `notice` gets remarks for the user. `stop` may be asked
    from anywhere. `engine` overrides the configured one. Raises `Harness2Error` for what must be mended first.
    """
    registry = registry or Registry.installed()
    study = reopened(study_of(config, registry), again.retry, again.no_cache)
    check_caps(_caps(config), study, config, registry)
    for note in study.notes:
        notice(note)
    extras = facade.extras(registry, study.experiment.extra)
    named: list[tuple[str, Listener]] = [(extra.name, extra.event) for extra in extras]
    named += [("of the caller", listener) for listener in listeners]
    made = engine or _engine(study, config, registry)
    log = study.runs / "adapt" / str(study.home) / "events.jsonl"
    try:
        budget = _budget(config, study, made)
        study = evolve(study, admit=_admission(study, budget))
        with Events(log, named, notice) as events:
            return _swept(study, made, events, stop or Stop(), budget, notice)
    finally:
        made.close()


def judge_sweep(
    config: Config,
    which: str,
    *,
    registry: Registry | None = None,
    listeners: Sequence[Listener] = (),
    stop: Stop | None = None,
    notice: Callable[[str], None] = unheard,
) -> Judged:
    """Grades what has no complete grade yet of an experiment: `finals` (the picks), `bases` too, or `all` rollouts."""
    registry = registry or Registry.installed()
    study = study_of(config, registry, reading=True)
    bench = bench_of(config, registry, study)
    engine = _engine(study, config, registry)
    try:
        with Events(None, [("of the caller", listener) for listener in listeners], notice) as events:
            return judge_rows(study, bench, which, engine, stop or Stop(), events)
    finally:
        engine.close()


def reselect_sweep(
    config: Config,
    selector: str,
    *,
    registry: Registry | None = None,
    listeners: Sequence[Listener] = (),
    stop: Stop | None = None,
    notice: Callable[[str], None] = unheard,
) -> Reselected:
    """Lets another selector vote on the stored finals of an experiment. Adopts nothing, reopens nothing."""
    registry = registry or Registry.installed()
    study = study_of(config, registry, dry=True)
    made = facade.selector(registry, selector, settings_of(registry, config, "selector", selector))
    if sessions_of(made, selector, 2):
        check_caps(_caps(config), study, config, registry, ("selector",))
    vote = vote_of(identified(config, registry, "selector", selector, study.store), Vote(made, selector))
    engine = _engine(study, config, registry)
    try:
        with Events(None, [("of the caller", listener) for listener in listeners], notice) as events:
            return reselect(study, vote, engine, _budget(config, study, engine), stop or Stop(), events)
    finally:
        engine.close()


def _engine(study: Study, config: Config, registry: Registry) -> Engine:
    name = study.names["engine"]
    made = facade.engine(registry, name, settings_of(registry, config, "engine", name))
    return BlamedEngine(made, registry.find("engine", name))


def _budget(config: Config, study: Study, engine: Engine) -> Budget:
    return Budget(_caps(config), study.archive, str(study.home), study.home.k, ledger_of(study), engine.now)


def _caps(config: Config) -> Caps:
    run = run_settings(config)
    return Caps(run.max_usd or None, run.max_rollouts, run.max_sessions, run.max_hours or None)


def _admission(study: Study, budget: Budget) -> Callable[[str, str], str]:
    return lambda task, mode: budget.admit(
        task, mode, study.modes[mode].plan, study.attempt(task), sessions_besides(study, mode)
    )


def _swept(
    study: Study, engine: Engine, events: Events, stop: Stop, budget: Budget, notice: Callable[[str], None]
) -> SweepResult:
    began, course = utc_now(), course_of(study)
    started: dict[Digest, Request] = {}
    prepare: Prepare[Result] = Prepare(study, body, budget.may_start, started)
    nodes = graph(course.work, study.lookahead)
    if swept := end_unclaimed(study.runs, study.store):
        notice(f"ended what a run that was killed had left behind: process {', '.join(map(str, swept))}")
    events.tell("sweep-started", facts=opening(study, nodes) | setting_out(study, course))
    if course.tasks:
        notice(f"to do: {estimate(study, ledger_of(study)).words()}")
    mended = mend(study, course)
    if mended.files:
        notice(f"{mended.files} readable copies were missing or different and have been rewritten from the store")
    for lost in mended.lost:
        notice(f"no readable copy can be made of {lost}; `--retry dead` draws anew what a finished task has lost")

    costs = Costs(study.archive)
    outcome = Scheduler(nodes, prepare, engine, perform, study.limits, stop, teller(events, costs, started)).run()
    left = tuple(task for task in course.tasks if Key("finish", task) not in outcome.results)
    write_begun(study, left)
    ended = {key.task: made.status for key, made in outcome.results.items() if isinstance(made, Summary)}
    result = _result(
        study,
        {**mended.statuses, **ended},
        course.finished,
        outcome,
        left,
        costs.paid_for(started, prepare.former),
        stop,
        began,
    )
    events.tell("sweep-ended", facts={"exit": str(result.exit_code)})
    if course.tasks:
        write_whole(_sweep_path(study, began), readable.pretty(result))
    return result


def _result(
    study: Study,
    statuses: Mapping[str, str],
    finished: tuple[str, ...],
    outcome: Outcome[Result],
    left: tuple[str, ...],
    paid: Paid,
    stop: Stop,
    began: str,
) -> SweepResult:
    return SweepResult(
        namespace=str(study.home),
        statuses=statuses,
        skipped=finished,
        left=left,
        paid=paid,
        held={str(key): why for key, why in outcome.held.items()},
        stopped=outcome.stopped or "; ".join(outcome.barred),
        signal=stop.signal,
        interrupted=stop.level > 0 and bool(left),
        notes=strings(study.notes),
        began_at=began,
        ended_at=utc_now(),
    )


def _sweep_path(study: Study, began: str) -> Path:
    """Of its own for each invocation, even of two that began in the same moment."""
    stamp = "".join(character for character in began if character.isalnum())
    path, count = study.runs / "adapt" / "_sweeps" / f"{study.home}-{stamp}.json", 1
    while path.exists():
        count += 1
        path = path.with_name(f"{study.home}-{stamp}-{count}.json")
    return path
