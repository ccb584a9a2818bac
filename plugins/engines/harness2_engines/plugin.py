"""The hooks of harness2-engines."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Engine, Provider, hookimpl


@hookimpl
def harness2_engines() -> Sequence[Provider[Engine]]:
    return (
        Provider(
            "threads",
            "threads of this process, each watching the programs it runs",
            "harness2_engines.threads:threads_engine",
            "harness2_engines.settings:ThreadsSettings",
        ),
    )
