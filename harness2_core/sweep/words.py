"""The words a benchmark lends to missions: of the task, where the adapter has such, else of the benchmark."""

from __future__ import annotations

from harness2_core.api.adapters import HasWords
from harness2_core.model.bench import BenchWords

from .study import Study


def words_for(study: Study, task: str) -> BenchWords:
    return study.adapter.words(task) if isinstance(study.adapter, HasWords) else study.spec.words
