"""Selection: a ballot of the finals' deliverables, a blind dialogue, and a pick that is always of one of them."""

from __future__ import annotations

from attrs import frozen

from harness2_core.api.strategies import Selector
from harness2_core.method.ballot import Contest, Drawn, ballot, needed
from harness2_core.method.entries import Final
from harness2_core.model.canonical import Digest
from harness2_core.model.errors import StoreError
from harness2_core.model.namespace import draw
from harness2_core.model.plan import Plan
from harness2_core.model.records import RollRecord, SelectionRecord
from harness2_core.model.serial import recordable
from harness2_core.model.strategy import Choice

from .dialogue import held
from .graph import Key
from .outcomes import Result, Results, rolls_in
from .prepare import Body
from .steps import Held
from .study import Study
from .texts import Texts

ERROR_CHARS = 400
"""Characters of a selector's error that its record keeps."""
ONLY_ONE = "Only one of the finals was left to choose from."


@frozen
class Vote:
    """A selector, its name, and the label of its sessions."""

    selector: Selector
    name: str
    label: str = "select"


def select(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """The selection of a mode that has just been through."""
    plan = study.modes[key.mode].plan
    rolls = rolls_in(results, key.task, key.mode, plan)
    return (yield from picked(study, key.mode, key.task, rolls, Vote(study.selector, study.names["selector"])))


def picked(study: Study, mode: str, task: str, rolls: dict[str, RollRecord], vote: Vote) -> Body[SelectionRecord]:
    """A failed selector is marked, and the first in ballot order taken; only an error of the store ends the sweep."""
    plan = study.modes[mode].plan
    sessions: list[Digest] = []
    try:
        drawn = draw_ballot(study, mode, task, pool_of(plan, rolls, study.pool), rolls, vote.label)
        if not drawn.order:
            return _record(plan, drawn, vote, error="none of the finals delivered anything to choose from")
        if drawn.ballot is None:
            return _record(plan, drawn, vote, chosen=Choice(drawn.order[0], ONLY_ONE), trivial=True)
    except StoreError:
        raise
    except Exception as error:
        return SelectionRecord(vote.name, ok=False, error=_short(error))
    try:
        rollouts = [study.archive.rollout(roll.rollout) for roll in rolls.values()]
        asking = vote.selector.select(drawn.ballot)
        choice = yield from held(study, mode, task, vote.label, "selector", "select", asking, rollouts, sessions)
        if choice.id not in drawn.ids:
            raise ValueError(f"the selector chose {choice.id!r}, which is not on the ballot")
        return recordable(_record(plan, drawn, vote, chosen=choice, sessions=sessions))
    except StoreError:
        raise
    except Exception as error:
        first = Choice(drawn.order[0])
        return _record(plan, drawn, vote, chosen=first, fallback=True, error=_short(error), sessions=sessions)


def pool_of(plan: Plan, rolls: dict[str, RollRecord], pool: str) -> tuple[str, ...]:
    """The finals; with `mixed`, the first usable base too."""
    labels = plan.finals
    if pool == "mixed":
        usable = [label for label in plan.bases if label in rolls and rolls[label].delivered]
        labels = (*labels, *(label for label in usable[:1] if label not in labels))
    return labels


def draw_ballot(
    study: Study, mode: str, task: str, labels: tuple[str, ...], rolls: dict[str, RollRecord], label: str
) -> Drawn:
    """The ballot of these rolls; its new blobs are in the store."""
    archive = study.archive
    finals = tuple(
        Final(label, archive.rollout(rolls[label].rollout), archive.tree(rolls[label].tree)) for label in labels
    )
    contest = Contest(
        finals,
        base=study.base,
        material=study.material(task),
        spec=study.spec,
        words=study.words(task),
        templates=study.modes[mode].templates,
        draw=draw(study.namespace(mode), task, label),
    )
    drawn = ballot(contest, Texts(archive, needed(contest)))
    archive.put_new(drawn.new)
    return drawn


def _record(
    plan: Plan,
    drawn: Drawn,
    vote: Vote,
    *,
    chosen: Choice | None = None,
    trivial: bool = False,
    fallback: bool = False,
    error: str = "",
    sessions: list[Digest] | None = None,
) -> SelectionRecord:
    label = drawn.ids[chosen.id] if chosen is not None else ""
    return SelectionRecord(
        vote.name,
        ok=chosen is not None,
        chosen=label,
        chosen_id=chosen.id if chosen is not None else "",
        why=chosen.why if chosen is not None else "",
        ids=drawn.ids,
        dropped=drawn.dropped,
        same=drawn.same,
        trivial=trivial,
        fallback=fallback,
        base_pick=label in plan.bases,
        sessions=tuple(sessions or ()),
        error=error,
    )


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:ERROR_CHARS]
