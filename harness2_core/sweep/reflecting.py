"""Reflection on a finished mode: best effort. Whatever goes wrong here undoes nothing."""

from __future__ import annotations

from harness2_core.method.reflection import Finished, round_of
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import StoreError
from harness2_core.model.records import ReflectionRecord, SelectionRecord
from harness2_core.model.replies import edits_in
from harness2_core.model.serial import recordable
from harness2_core.model.strategy import Choice, Edit

from .closing import adopts
from .dialogue import held
from .graph import Key
from .outcomes import Result, Results, rolls_in, stages_in
from .prepare import Body
from .staging import ERROR_CHARS, decision
from .steps import Held
from .study import Study


def reflect(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """The lesson of a mode that learns, when a final was chosen and adopted."""
    selection = results[Key("select", key.task, key.mode)]
    assert isinstance(selection, SelectionRecord)
    name = study.names["reflector"]
    sessions: list[Digest] = []
    if not study.modes[key.mode].plan.learns or not adopts(selection):
        return ReflectionRecord(name)
    try:
        done = _finished(study, key, results, selection)
        round_, new = round_of(done, study.words(key.task), study.modes[key.mode].templates)
        study.archive.put_new(new)
        lesson = yield from held(
            study,
            key.mode,
            key.task,
            "reflect",
            "reflector",
            "reflect",
            study.reflector.reflect(round_),
            done.rollouts.values(),
            sessions,
        )
        edits = lesson.edits if lesson is not None and lesson.edits else _edits(study, sessions)
        return recordable(ReflectionRecord(name, tuple(sessions), lesson, edits))
    except StoreError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:ERROR_CHARS]
        return ReflectionRecord(name, tuple(sessions), edits=_edits(study, sessions), error=why)


def _edits(study: Study, sessions: list[Digest]) -> tuple[Edit, ...]:
    """What the replies said of single edits is kept, whether or not a lesson came of them."""
    for digest in reversed(sessions):
        found = edits_in(study.archive.reply(digest).text)
        if found:
            return found
    return ()


def _finished(study: Study, key: Key, results: Results, selection: SelectionRecord) -> Finished:
    archive, plan = study.archive, study.modes[key.mode].plan
    card = study.cards[key.task]
    stages = stages_in(results, key.task, key.mode, plan)
    rolls = rolls_in(results, key.task, key.mode, plan)
    return Finished(
        card=card,
        material=study.material(key.task),
        spec=study.spec,
        base=study.base,
        stages=tuple(stages),
        trees={label: archive.tree(record.tree) for label, record in stages.items()},
        rolls=tuple(rolls),
        rollouts={label: archive.rollout(roll.rollout) for label, roll in rolls.items()},
        decisions={label: decision(study, record) for label, record in stages.items()},
        choice=Choice(selection.chosen_id, selection.why),
        adopted=selection.chosen,
        ids=selection.ids,
    )
