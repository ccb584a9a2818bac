"""`sampling` (bon), a control: all 4k rollouts under the unmodified harness, and any of them may be delivered.

The honest rival of the improving modes: what the same number of rollouts gives without a single edit.
"""

from __future__ import annotations

from harness2_core.api import Plan, Roll


class Sampling:
    def plan(self, k: int) -> Plan:
        bases = tuple(f"base{i}" for i in range(1, k + 1))
        more = tuple(f"draw{i}" for i in range(1, 3 * k + 1))
        rolls = tuple(Roll(label, "base") for label in more)
        return Plan(rolls, (*bases, *more), rollouts=4 * k, sessions=0, learns=False)
