"""The end of a mode and of a task: adoption, the record, the merged summary, and the readable copies."""

from __future__ import annotations

from contextlib import AbstractContextManager

from harness2_core.method.library import Shelved, inventory
from harness2_core.model.namespace import Namespace
from harness2_core.model.records import (
    Adoption,
    ModeRecord,
    ReflectionRecord,
    SelectionRecord,
    Summary,
)

from . import readable
from .graph import Key
from .locking import locked
from .outcomes import Result, Results, rolls_in, stages_in, view_in
from .prepare import Body
from .steps import Held
from .study import Study
from .words import domain_word


def close(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """Adopts and records one mode of one task."""
    yield from ()
    plan, namespace = study.modes[key.mode].plan, study.namespace(key.mode)
    selection = results[Key("select", key.task, key.mode)]
    reflection = results[Key("reflect", key.task, key.mode)]
    assert isinstance(selection, SelectionRecord)
    assert isinstance(reflection, ReflectionRecord)
    rolls = rolls_in(results, key.task, key.mode, plan)
    adopted = rolls[selection.chosen].tree if plan.learns and adopts(selection) else ""
    view = view_in(results, key.task, key.mode)
    record = ModeRecord(
        mode=key.mode,
        k=study.home.k,
        plan=study.experiment.plans[key.mode],
        view=view.view,
        seen=view.seen,
        stages=tuple(stages_in(results, key.task, key.mode, plan).values()),
        rolls=tuple(roll for label, roll in rolls.items() if label not in plan.bases),
        selection=selection,
        reflection=reflection,
        adopted=adopted,
        ok=selection.ok,
        error=selection.error if not selection.ok else "",
        attempt=study.attempt(key.task),
    )
    adoption = adoption_of(study, key.task, record)
    if adoption is not None:
        study.archive.keep(namespace, key.task, adoption, record.attempt)
    study.archive.keep(namespace, key.task, record, record.attempt)
    with copying(study, namespace, study.cards[key.task].domain):
        if adopted:
            _shelve(study, key)
        readable.write_mode(study.archive, study.runs, namespace, key.task, record)
    return record


def copying(study: Study, namespace: Namespace, domain: str) -> AbstractContextManager[None]:
    """Held while readable copies of a mode and domain are written: another process would take half a file for a stray.

    Within one process a mode goes through a domain task by task, so that nobody waits for it.
    """
    return locked(study.store, f"copies {namespace} {domain}")


def adopts(selection: SelectionRecord) -> bool:
    """A base that was picked, or a final that nobody chose, teaches nothing."""
    return selection.ok and not selection.fallback and not selection.base_pick


def finish(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    """Merges what the store has of the task, this run's modes and earlier ones, into its summary."""
    yield from ()
    summary = summary_of(study, key.task)
    readable.write_summary(study.runs, study.home, summary)
    return summary


def summary_of(study: Study, task: str) -> Summary:
    """A pure function of the store and the experiment: every process comes to the same."""
    archive = study.archive
    bases = archive.latest_bases(study.home, task)
    rolls = bases.rolls if bases is not None else ()
    found = {mode: archive.latest_mode(study.namespace(mode), task) for mode in study.experiment.plans}
    modes = {mode: record for mode, record in found.items() if record is not None}
    errors = tuple(f"{mode}: {record.error or 'not ok'}" for mode, record in modes.items() if not record.ok)
    if bases is not None and not bases.usable:
        status, errors = "base-failed", (*errors, "no base rollout came to an end")
    else:
        status = "ok" if modes and not errors else "partial"
    return Summary(task, study.cards[task].domain, study.home.k, study.home.seed, status, rolls, modes, errors)


def adoption_of(study: Study, task: str, record: ModeRecord) -> Adoption | None:
    """The library's entry that follows from what a mode came to."""
    if not record.adopted or record.selection is None or record.reflection is None:
        return None
    return Adoption(
        task=task,
        mode=record.mode,
        domain=study.cards[task].domain,
        label=record.selection.chosen,
        tree=record.adopted,
        why=record.selection.why,
        lesson=record.reflection.lesson,
        edits=record.reflection.edits,
    )


def _shelve(study: Study, key: Key) -> None:
    """The readable library's entry of this task, and the index."""
    namespace, domain = study.namespace(key.mode), study.cards[key.task].domain
    shelf = shelf_of(study, namespace, domain)
    directory = readable.library_directory(study.runs, namespace, domain)
    for entry in shelf:
        if entry.adoption.task == key.task:
            readable.write_entry(study.archive, directory, entry)
    readable.write_index(directory, shelf, domain_word(study, key.task))


def shelf_of(study: Study, namespace: Namespace, domain: str) -> tuple[Shelved, ...]:
    """What a domain's library holds now, in stream order."""
    return tuple(
        Shelved(adoption, inventory(study.archive.manifest(adoption.tree), study.surface))
        for adoption in study.archive.adoptions(namespace, study.stream[domain])
    )
