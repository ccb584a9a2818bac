"""The hooks of harness2-bubblewrap."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Sandbox, hookimpl


@hookimpl
def harness2_sandboxes() -> Sequence[Provider[Sandbox]]:
    return (
        Provider(
            "bubblewrap",
            "own processes, files and network on Linux, by bwrap",
            "harness2_bubblewrap.bubblewrap:Bubblewrap",
            "harness2_bubblewrap.settings:Settings",
        ),
    )
