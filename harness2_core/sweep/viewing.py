"""The library view of a mode of a task: what earlier tasks of its stream had adopted when the mode began.

It is fixed then, in the store, so that a resume sees the same and a late entry reopens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness2_core.method.library import library_view
from harness2_core.model.records import ViewRecord
from harness2_core.work.wholeness import holds

from .graph import Key
from .outcomes import Result, Results
from .prepare import Body
from .steps import Held
from .study import Study
from .words import domain_word


def view(study: Study, key: Key, results: Results) -> Body[Result | Held]:
    yield from ()
    namespace, attempt = study.namespace(key.mode), study.attempt(key.task)
    held = study.archive.view(namespace, key.task, attempt)
    if held is not None:
        if holds(study.store, held.view):
            return held
        study.archive.lost()
        if _made(study, key, held.seen) == held:  # what was lost from the store of it has been made again
            return held
        study.archive.drop_view(namespace, key.task, attempt)
    refused = study.admit(key.task, key.mode)
    if refused:
        return Held(refused)
    learns = study.modes[key.mode].plan.learns
    record = _made(study, key, study.earlier(key.task) if learns else ())
    study.archive.keep(namespace, key.task, record, attempt)
    return study.archive.view(namespace, key.task, attempt) or record  # another process may have been first


def _made(study: Study, key: Key, tasks: Iterable[str]) -> ViewRecord:
    """What the library holds of `tasks`, put into the store."""
    adoptions = study.archive.adoptions(study.namespace(key.mode), tasks)
    trees = {adoption.tree: study.archive.manifest(adoption.tree) for adoption in adoptions}
    bundle = library_view(adoptions, trees, study.surface, domain_word(study, key.task), study.max_harnesses)
    study.archive.put_new(bundle.new)
    study.store.put_blob(bundle.manifest.encode())  # an empty view brings no blob of its own
    return ViewRecord(bundle.manifest.digest, tuple(adoption.task for adoption in adoptions))
