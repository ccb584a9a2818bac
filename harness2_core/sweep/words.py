"""The words a benchmark lends to missions: of the task, where the adapter has such, else of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from harness2_core.api.adapters import Adapter, HasWords
from harness2_core.method.missions import words_of
from harness2_core.model.bench import BenchWords

from .study import Study


def words_of_tasks(adapter: Adapter) -> Callable[[str], BenchWords]:
    """Task -> its words; each task's are asked for once in a while."""

    @lru_cache(256)
    def words(task: str) -> BenchWords:
        return adapter.words(task) if isinstance(adapter, HasWords) else adapter.spec.words

    return words


def domain_word(study: Study, task: str) -> str:
    """What a domain is called in headings; where the adapter stumbles over this task, as the benchmark calls it.

    A library must be shown whatever befell one task: its stages, which need more than this word, tell of the error.
    """
    try:
        return words_of(study.words(task))["domain_word"]
    except Exception:
        return words_of(study.spec.words)["domain_word"]
