"""The hooks of harness2-modes."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Mode, Provider, hookimpl


@hookimpl
def harness2_modes() -> Sequence[Provider[Mode]]:
    return (
        Provider(
            "parallel", "k editors for each part side by side, then k compositions", "harness2_modes.parallel:Parallel"
        ),
        Provider(
            "sequential", "k rounds, each editing the checkpoint before it", "harness2_modes.sequential:Sequential"
        ),
        Provider("sampling", "control: as many rollouts, all unmodified", "harness2_modes.sampling:Sampling"),
        Provider("null", "control: the plan of parallel with editors that keep", "harness2_modes.null:Null"),
    )
