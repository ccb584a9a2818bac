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
        present = {key: [need for need in node.needs if need in nodes] for key, node in nodes.items()}
        self._last_first = tuple(TopologicalSorter(present).static_order())[::-1]
        place = {key: index for index, key in enumerate(self._last_first)}
        self._kinds = [nodes[key].paid for key in self._last_first]
        self._dependents: list[list[int]] = [[] for _ in self._last_first]
        """By place in `_last_first`: there are tens of thousands of nodes, and numbers are found faster than keys."""
        for key, needs in present.items():
            for need in needs:
                self._dependents[place[need]].append(place[key])
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
        means = {kind: self.mean(kind) for kind in frozenset(self._kinds)}
        tails: list[float] = []
        for kind, others in zip(self._kinds, self._dependents, strict=True):
            tails.append(means[kind] + max((tails[other] for other in others), default=0.0))
        self.tails = dict(zip(self._last_first, tails, strict=True))
