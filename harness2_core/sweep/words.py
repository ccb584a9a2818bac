"""The words a benchmark lends to missions: of the task, where the adapter has such, else of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from harness2_core.api.adapters import Adapter, HasWords
from harness2_core.model.bench import BenchWords


def words_of_tasks(adapter: Adapter) -> Callable[[str], BenchWords]:
    """Task -> its words; each task's are asked for once in a while."""

    @lru_cache(256)
    def words(task: str) -> BenchWords:
        return adapter.words(task) if isinstance(adapter, HasWords) else adapter.spec.words

    return words
