"""`null` (nul), a control: the plan of `parallel` with editors that are asked to keep what they get.

Every harness stays the unmodified one, so that whatever this mode gains or loses is noise.
"""

from __future__ import annotations

from attrs import evolve

from harness2_core.api import Plan, Stage

from .parallel import Parallel


class Null:
    def plan(self, k: int) -> Plan:
        plan = Parallel().plan(k)
        steps = tuple(evolve(step, template="keep") if isinstance(step, Stage) else step for step in plan.steps)
        return evolve(plan, steps=steps, learns=False)
