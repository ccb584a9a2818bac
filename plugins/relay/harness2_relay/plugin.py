"""The hooks of harness2-relay."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import ModelAccess, Provider, hookimpl


@hookimpl
def harness2_access() -> Sequence[Provider[ModelAccess]]:
    return (
        Provider(
            "relay",
            "a key of its own for each run, exchanged on the way; reaches into sandboxes without a network",
            "harness2_relay.access:RelayAccess",
            "harness2_relay.settings:Settings",
        ),
    )
