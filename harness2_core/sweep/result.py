"""What a sweep came to: for Python callers, the command line, and `_sweeps/<home ns>-<utc>.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import field, frozen

from harness2_core.model.channel import Usage
from harness2_core.model.exits import DONE, NOT_DONE, SOME_NOT_OK, STOPPED_BY_BUDGET, ended_by
from harness2_core.model.frozen import FrozenMap, frozen_map, strings, texts


def _usages(items: Mapping[str, Usage]) -> FrozenMap[Usage]:
    return frozen_map(items)


@frozen
class Paid:
    """What this invocation paid for: requests by kind, attempts that came to nothing, usage by role."""

    rollouts: int = 0
    sessions: int = 0
    gradings: int = 0
    lost: int = 0
    usage: FrozenMap[Usage] = field(converter=_usages, factory=FrozenMap)

    @property
    def nothing(self) -> bool:
        return not (self.rollouts or self.sessions or self.gradings or self.lost)


@frozen
class SweepResult:
    """`statuses` holds each chosen task that has ended, now or before: `ok`, `partial`, `base-failed`."""

    namespace: str
    statuses: FrozenMap[str] = field(converter=texts)
    skipped: tuple[str, ...] = field(converter=strings, default=())
    """Tasks that were finished before."""
    left: tuple[str, ...] = field(converter=strings, default=())
    """Tasks not finished now."""
    paid: Paid = field(factory=Paid)
    held: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Step -> the budget that kept it from starting."""
    stopped: str = ""
    """Why the policy table stopped the sweep or a model."""
    signal: int = 0
    interrupted: bool = False
    notes: tuple[str, ...] = field(converter=strings, default=())
    began_at: str = ""
    ended_at: str = ""

    @property
    def exit_code(self) -> int:
        """0 all done; 1 a key or model was refused; 2 some tasks not ok; 3 stopped by a budget; 130, 143 interrupted"""
        if self.interrupted:
            return ended_by(self.signal)
        if re.search(r"(^|: )access: ", self.stopped):
            return NOT_DONE
        if any(why != self.stopped for why in self.held.values()):  # what stops all, as a full disk, is no budget
            return STOPPED_BY_BUDGET
        if self.left or any(status != "ok" for status in self.statuses.values()):
            return SOME_NOT_OK
        return DONE
