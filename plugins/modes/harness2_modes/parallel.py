"""`parallel` (agg): 2k editors from the same base evidence, then k compositions of what all of them wrote."""

from __future__ import annotations

from harness2_core.api import Plan, Roll, Stage


class Parallel:
    def plan(self, k: int) -> Plan:
        bases = tuple(f"base{i}" for i in range(1, k + 1))
        turns = range(1, k + 1)
        edits = [Stage(f"{part}{i}", part, "base", bases, index=i, of=k) for i in turns for part in ("inv", "dom")]
        pool = tuple(stage.label for stage in edits)
        composed = [Stage(f"agg{i}", "agg", "base", bases, pool, pool, index=i, of=k) for i in turns]
        steps = [step for stage in (*edits, *composed) for step in (stage, Roll(stage.label, stage.label))]
        return Plan(tuple(steps), tuple(stage.label for stage in composed), rollouts=4 * k, sessions=3 * k)
