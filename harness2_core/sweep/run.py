"""`run_sweep`: the way in. Sets up a study, lays out the graph, runs it, and says what came of it.

No signal handlers, no global state: it runs in a notebook's thread, and twice in one process. Signals are the command
line's matter; it asks through `Stop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from harness2_core.api.runtime import Engine
from harness2_core.model.canonical import Digest
from harness2_core.model.records import Summary
from harness2_core.model.requests import Request
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import run_settings
from harness2_core.work.worker import perform

from . import readable
from .bodies import body
from .budget import Budget, Caps
from .closing import summary_of
from .events import Events, Listener, utc_now
from .files import write_whole
from .graph import Key, Work, graph
from .judges import bench_of
from .judging import Judged, judge_rows
from .ledger import Ledger
from .outcomes import Result
from .prepare import Prepare
from .reopening import attempts_for, is_finished, unfinished_modes
from .result import SweepResult
from .scheduler import Outcome, Scheduler
from .setup import study_of
from .spending import paid_for
from .stop import Stop
from .study import Study


@frozen
class Again:
    """What of the finished work this invocation takes up again: `partial`, `dead`, or names of tasks."""

    retry: tuple[str, ...] = ()
    no_cache: bool = False
    """Draw everything anew, serving nothing from former attempts; finished tasks stay finished."""


def _unheard(text: str) -> None:
    """Remarks go nowhere when nobody asked for them; the result has them too."""


def judge_sweep(
    config: Config,
    which: str,
    *,
    registry: Registry | None = None,
    listeners: Sequence[Listener] = (),
    stop: Stop | None = None,
    notice: Callable[[str], None] = _unheard,
) -> Judged:
    """Grades what has no complete grade yet of an experiment: `finals` (the picks), `bases` too, or `all` rollouts."""
    registry = registry or Registry.installed()
    study = study_of(config, registry, dry=True)
    bench = bench_of(config, registry, study)
    engine = _engine(study, config, registry)
    named = [("of the caller", listener) for listener in listeners]
    try:
        with Events(None, named, notice) as events:
            return judge_rows(study, bench, which, engine, stop or Stop(), events)
    finally:
        engine.close()


def _engine(study: Study, config: Config, registry: Registry) -> Engine:
    name = study.names["engine"]
    return facade.engine(registry, name, settings_of(registry, config, "engine", name))


def run_sweep(
    config: Config,
    *,
    registry: Registry | None = None,
    again: Again = Again(),
    listeners: Sequence[Listener] = (),
    stop: Stop | None = None,
    engine: Engine | None = None,
    notice: Callable[[str], None] = _unheard,
) -> SweepResult:
    """Runs, or goes on with, the experiment that `config` describes, and returns what this invocation came to.

    `listeners` are told what happens, on a thread of their own; `notice` gets remarks for the user. `stop` may be asked
    from anywhere. `engine` overrides the configured one. Raises `Harness2Error` for what must be mended first.
    """
    registry = registry or Registry.installed()
    study = study_of(config, registry)
    study = evolve(study, attempts=attempts_for(study, again.retry, again.no_cache), fresh=again.no_cache)
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


@frozen
class _Course:
    """What one invocation sets out to do."""

    skipped: tuple[str, ...]
    work: tuple[tuple[Work, ...], ...]
    tasks: tuple[str, ...] = field(default=())


def _course(study: Study) -> _Course:
    skipped, work = [], []
    for domain, tasks in study.chosen.items():
        open_tasks = []
        for task in tasks:
            if is_finished(study, task):
                skipped.append(task)
                continue
            plans = {mode: study.modes[mode].plan for mode in unfinished_modes(study, task)}
            open_tasks.append(Work(task, domain, plans))
        work.append(tuple(open_tasks))
    return _Course(tuple(skipped), tuple(work), tuple(item.task for items in work for item in items))


def _budget(config: Config, study: Study, engine: Engine) -> Budget:
    run = run_settings(config)
    caps = Caps(run.max_usd or None, run.max_rollouts, run.max_sessions, run.max_hours or None)
    namespaces = {str(study.home), *(str(study.namespace(mode)) for mode in study.experiment.plans)}
    return Budget(caps, study.archive, str(study.home), study.home.k, Ledger(study.archive, namespaces), engine.now)


def _admission(study: Study, budget: Budget) -> Callable[[str, str], str]:
    return lambda task, mode: budget.admit(task, mode, study.modes[mode].plan, study.attempt(task))


def _swept(
    study: Study, engine: Engine, events: Events, stop: Stop, budget: Budget, notice: Callable[[str], None]
) -> SweepResult:
    began = utc_now()
    course = _course(study)
    started: dict[Digest, Request] = {}
    prepare: Prepare[Result] = Prepare(study, body, budget.may_start, started)
    nodes = graph(course.work, study.lookahead)
    events.tell("sweep-started", facts={"namespace": str(study.home), "tasks": str(len(course.tasks))})
    rewritten = sum(readable.write_summary(study.runs, study.home, summary_of(study, task)) for task in course.skipped)
    if rewritten:
        notice(f"{rewritten} readable copies were missing or different and have been rewritten from the store")

    def notify(what: str, key: Key, digest: Digest, fact: str) -> None:
        events.tell(what, key, digest, {"fact": fact} if fact else None)

    outcome = Scheduler(nodes, prepare, engine, perform, study.limits, stop, notify).run()
    result = _result(study, course, outcome, started, stop, began)
    events.tell("sweep-ended", facts={"exit": str(result.exit_code)})
    if not result.paid.nothing or result.statuses:
        write_whole(_sweep_path(study, began), readable.pretty(result))
    return result


def _result(
    study: Study,
    course: _Course,
    outcome: Outcome[Result],
    started: dict[Digest, Request],
    stop: Stop,
    began: str,
) -> SweepResult:
    summaries = {key.task: made for key, made in outcome.results.items() if isinstance(made, Summary)}
    left = tuple(task for task in course.tasks if task not in summaries)
    return SweepResult(
        namespace=str(study.home),
        statuses={task: summary.status for task, summary in summaries.items()},
        skipped=course.skipped,
        left=left,
        paid=paid_for(study.archive, started),
        held={str(key): why for key, why in outcome.held.items()},
        stopped=outcome.stopped or "; ".join(outcome.barred),
        signal=stop.signal,
        interrupted=stop.level > 0 and bool(left),
        notes=study.notes,
        began_at=began,
        ended_at=utc_now(),
    )


def _sweep_path(study: Study, began: str) -> Path:
    stamp = "".join(c for c in began if c.isalnum())
    return study.runs / "adapt" / "_sweeps" / f"{study.home}-{stamp}.json"
