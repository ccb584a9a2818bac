"""Which nodes may start: those whose needs are done. Results are kept for as long as their task is at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar, final

from .graph import Key, Node

R = TypeVar("R")


@final
class Dataflow(Generic[R]):
    """Of `nodes`; what they need that is not among these is done already."""

    def __init__(self, nodes: Mapping[Key, Node]) -> None:
        self._missing = {key: sum(need in nodes for need in node.needs) for key, node in nodes.items()}
        self._dependents: dict[Key, list[Key]] = {}
        for key, node in nodes.items():
            for need in node.needs:
                if need in nodes:
                    self._dependents.setdefault(need, []).append(key)
        self._results: dict[str, dict[Key, R]] = {}
        self._left = Counter(key.task for key in nodes)

    def first(self) -> Sequence[Key]:
        """The nodes that may start at once."""
        return [key for key, count in self._missing.items() if count == 0]

    def results(self, task: str) -> dict[Key, R]:
        """Of the task's nodes so far."""
        return dict(self._results.get(task, {}))

    def finish(self, key: Key, result: R) -> Sequence[Key]:
        """Keeps a node's result; the nodes that may start now."""
        self._results.setdefault(key.task, {})[key] = result
        self._left[key.task] -= 1
        if self.is_through(key.task):
            del self._results[key.task]
        ready = []
        for other in self._dependents.get(key, ()):
            self._missing[other] -= 1
            if self._missing[other] == 0:
                ready.append(other)
        return ready

    def is_through(self, task: str) -> bool:
        """Whether all nodes of the task are done."""
        return self._left[task] == 0
