"""What each node does, as generators: read values, ask for paid work, make the record.

Run by `prepare.py` on its pool. A body yields requests, and goes on when all of them have records. Strategies and
evidence have their own modules; here are the nodes and what passes between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness2_core.model.plan import BASE
from harness2_core.model.records import BasesRecord, StageRecord
from harness2_core.work.material import material
from harness2_core.work.wholeness import holds

from .closing import close, finish
from .drawing import rolled
from .graph import Key, rolls_of
from .outcomes import Opened, Result, Results, Rolls, Skipped
from .picking import select
from .prepare import Body
from .reflecting import reflect
from .reopening import unfinished_modes
from .staging import stage
from .steps import Held
from .study import Study
from .viewing import view


def body(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """The generator of a node's work. Without a usable base there is none, but the task is still finished."""
    bases = results.get(Key("bases", key.task))
    if isinstance(bases, BasesRecord) and not bases.usable and key.what != "finish":
        return _skip()
    return _BODIES[key.what](study, key, results)


def _skip() -> Body[Result | Held]:
    yield from ()
    return Skipped()


def _open(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """Held when no mode of the task fits the budgets: then its bases are not rolled either."""
    yield from ()
    if not holds(study.store, study.cards[key.task].material):
        material(study.store, study.adapter, key.task, study.home.bench, anew=True)
    modes = unfinished_modes(study, key.task)
    refusals = [study.admit(key.task, mode) for mode in modes]
    return Held(refusals[0]) if modes and all(refusals) else Opened()


def _bases(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    labels = tuple(f"{BASE}{index}" for index in range(1, study.home.k + 1))
    rolls = yield from rolled(study, study.home, key.task, labels, study.base_digest)
    record = BasesRecord(key.task, rolls)
    study.archive.keep(study.home, key.task, record, study.attempt(key.task))
    return record


def _rolls(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    plan = study.modes[key.mode].plan
    tree = study.base_digest
    if key.label != BASE:
        made = results[Key("stage", key.task, key.mode, key.label)]
        assert isinstance(made, StageRecord)
        tree = made.tree
    rolls = yield from rolled(study, study.namespace(key.mode), key.task, rolls_of(plan)[key.label], tree)
    return Rolls(rolls)


_BODIES: Mapping[str, Callable[[Study, Key, Results], Body[Result | Held]]] = {
    "open": _open,
    "bases": _bases,
    "view": view,
    "rolls": _rolls,
    "stage": stage,
    "select": select,
    "reflect": reflect,
    "close": close,
    "finish": finish,
}
