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
        ok = not self.left and all(status == "ok" for status in self.statuses.values())
        return exit_of(self.interrupted, self.signal, self.stopped, self.held, ok=ok)


def exit_of(interrupted: bool, signal: int, stopped: str, held: Mapping[str, str], *, ok: bool) -> int:
    """The exit code of what was interrupted, was stopped (and why), was held back by budgets, or is not all `ok`."""
    if interrupted:
        return ended_by(signal)
    if re.search(r"(^|: )access: ", stopped):
        return NOT_DONE
    if any(why != stopped for why in held.values()):  # what stops all, as a full disk, is no budget
        return STOPPED_BY_BUDGET
    return DONE if ok else SOME_NOT_OK
