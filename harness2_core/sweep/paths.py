"""Longest expected way first: how much paid work still lies behind each node, in expected seconds.

Means are learned as work ends; while nothing is known, every paid step counts the same. Tails are recomputed when a
kind's count doubles, so that a long sweep spends no time on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter

from .graph import Key, Node


class Paths:
    """Tails of all nodes: expected seconds (or steps) from a node's start to the end of the longest way through it."""

    def __init__(self, nodes: Mapping[Key, Node]) -> None:
        self._nodes = nodes
        self._dependents: dict[Key, list[Key]] = {key: [] for key in nodes}
        for node in nodes.values():
            for need in node.needs:
                if need in nodes:
                    self._dependents[need].append(node.key)
        present = {key: [need for need in node.needs if need in nodes] for key, node in nodes.items()}
        self._topological = tuple(TopologicalSorter(present).static_order())
        self._seen: dict[str, tuple[int, float]] = {}
        self.tails: dict[Key, float] = {}
        self._compute()

    def learn(self, paid: str, seconds: float) -> bool:
        """Takes one duration; True when tails have changed."""
        count, total = self._seen.get(paid, (0, 0.0))
        self._seen[paid] = (count + 1, total + seconds)
        if (count + 1) & count:  # not at a power of two
            return False
        self._compute()
        return True

    def mean(self, paid: str) -> float:
        """Expected seconds of one step of this kind; 1 while nothing at all is known."""
        if not paid:
            return 0.0
        if paid in self._seen:
            count, total = self._seen[paid]
            return max(total / count, 1e-6)
        known = [total / count for count, total in self._seen.values()]
        return max(sum(known) / len(known), 1e-6) if known else 1.0

    def _compute(self) -> None:
        for key in reversed(self._topological):
            behind = max((self.tails[other] for other in self._dependents[key]), default=0.0)
            self.tails[key] = self.mean(self._nodes[key].paid) + behind
