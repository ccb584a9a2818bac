"""`sequential` (seq): k rounds of two editors and a composition, each round editing the checkpoint before it.

With one round there is nothing before it, and the composition is the one of `parallel`: at k = 1 both modes are the
same procedure, and what they differ by is noise.
"""

from __future__ import annotations

from harness2_core.api import Plan, Roll, Stage


class Sequential:
    def plan(self, k: int) -> Plan:
        bases = tuple(f"base{i}" for i in range(1, k + 1))
        stages: tuple[Stage, ...] = ()
        for t in range(1, k + 1):
            start, past = f"c{t - 1}" if t > 1 else "base", tuple(stage.label for stage in stages)
            pair = [Stage(f"{part}{t}", part, start, bases, past, past, round=t, rounds=k) for part in ("inv", "dom")]
            seen, template = (*past, *(stage.label for stage in pair)), "compose" if k > 1 else "agg"
            stages = (*stages, *pair, Stage(f"c{t}", template, start, bases, seen, seen, round=t, rounds=k))
        steps = tuple(step for stage in stages for step in (stage, Roll(stage.label, stage.label)))
        return Plan(steps, tuple(f"c{t}" for t in range(1, k + 1)), rollouts=4 * k, sessions=3 * k)
