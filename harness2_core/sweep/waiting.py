"""Paid work that waits for a slot: what begins the longest way first, then in plan order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping
from typing import final

from attrs import define, field

from .graph import Key, Node
from .paths import Paths
from .slots import Group
from .steps import Claim, Wanted


@define(eq=False)
class Item:
    """A wanted request on its way: queued, being admitted, running, or waiting for a time."""

    wanted: Wanted
    key: Key
    losses: dict[str, int] = field(factory=dict)
    """Cause -> how often it was lost by it here."""
    claim: Claim | None = None


@final
class Waiting:
    """A queue for each group, since groups have limits of their own."""

    def __init__(self, nodes: Mapping[Key, Node], paths: Paths) -> None:
        self._nodes = nodes
        self._paths = paths
        self._queues: dict[Group, list[tuple[float, int, int, Item]]] = {}
        self._counter = itertools.count()

    def put(self, item: Item) -> None:
        entry = (-self._paths.tails[item.key], self._nodes[item.key].order, next(self._counter), item)
        heapq.heappush(self._queues.setdefault(item.wanted.group, []), entry)

    def reorder(self) -> None:
        """After the paths have learned."""
        for group, entries in self._queues.items():
            self._queues[group] = [(-self._paths.tails[item.key], order, n, item) for _, order, n, item in entries]
            heapq.heapify(self._queues[group])

    def take(self, free: Callable[[Group], int]) -> tuple[Item, ...]:
        """The most urgent item that has a free slot, and those of its batch that wait too, as far as slots are free.

        `free` says how many more of a group may start. Empty: none may.
        """
        groups = [group for group, entries in self._queues.items() if entries and free(group)]
        if not groups:
            return ()
        group = min(groups, key=lambda group: self._queues[group][0][:3])
        entries = self._queues[group]
        first = heapq.heappop(entries)[3]
        if not first.wanted.batch or first.claim is not None:
            return (first,)
        room = min(free(group), first.wanted.together) - 1
        mates = [entry for entry in entries if entry[3].wanted.batch == first.wanted.batch and entry[3].claim is None]
        mates = sorted(mates)[: max(room, 0)]
        if mates:
            self._queues[group] = [entry for entry in entries if entry not in mates]
            heapq.heapify(self._queues[group])
        return (first, *(entry[3] for entry in mates))
