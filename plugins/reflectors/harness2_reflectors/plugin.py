"""The hooks of harness2-reflectors."""

from __future__ import annotations

from collections.abc import Sequence

from harness2_core.api import Provider, Reflector, hookimpl


@hookimpl
def harness2_reflectors() -> Sequence[Provider[Reflector]]:
    return (
        Provider(
            "lesson", "one session reads the round and writes at most one lesson", "harness2_reflectors.lesson:Reflect"
        ),
        Provider("diff", "which files each harness changed; no session", "harness2_reflectors.changes:Changes"),
        Provider("none", "no lesson; adopted harnesses are kept all the same", "harness2_reflectors.nothing:Nothing"),
    )
