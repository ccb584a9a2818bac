"""Slots: how much paid work may run at once, in all, of each kind, and on each model."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from harness2_core.model.check import at_least
from harness2_core.model.frozen import FrozenMap, counts
from harness2_core.model.requests import Request, kind_of


@frozen
class Limits:
    """`slots` bounds everything together; `kinds` and `models` bound parts of it. Absent: no bound of its own."""

    slots: int = field(default=4, validator=at_least(1))
    kinds: FrozenMap[int] = field(converter=counts, factory=FrozenMap)
    models: FrozenMap[int] = field(converter=counts, factory=FrozenMap)


@frozen(order=True)
class Group:
    """Work that shares limits: its kind and model."""

    kind: str
    model: str


def group_of(request: Request) -> Group:
    """A judge or session without a model is bound by its kind alone."""
    return Group(kind_of(request), request.channel.model)


class Slots:
    """Counts what runs against the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.used = 0
        self.by_kind: dict[str, int] = {}
        self.by_model: dict[str, int] = {}

    def free(self, group: Group) -> int:
        """How many more of this group may start now."""
        kind = self._limits.kinds.get(group.kind, self._limits.slots) - self.by_kind.get(group.kind, 0)
        model = self._limits.models.get(group.model, self._limits.slots) - self.by_model.get(group.model, 0)
        return max(0, min(self._limits.slots - self.used, kind, model))

    def take(self, group: Group, count: int = 1) -> None:
        self.used += count
        self.by_kind[group.kind] = self.by_kind.get(group.kind, 0) + count
        self.by_model[group.model] = self.by_model.get(group.model, 0) + count

    def give_back(self, group: Group, count: int = 1) -> None:
        self.take(group, -count)

    def shown(self) -> Mapping[str, int]:
        """For the live view: used slots by kind."""
        return dict(self.by_kind)
