"""What a worker works with: the providers of one assignment, made.

`installed.py` makes them from what is installed; tests hand in their own.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import field, frozen

from harness2_core.api.adapters import Adapter
from harness2_core.api.judges import Judge
from harness2_core.api.runtime import ModelAccess, Sandbox, Store
from harness2_core.api.sessions import Proposer
from harness2_core.api.substrates import RemoteAgent, Substrate
from harness2_core.model.acceptance import Check
from harness2_core.model.frozen import FrozenMap, texts


@frozen
class Providers:
    """Those that depend on the request are functions of a name (or token), called when they are needed."""

    store: Store
    adapter: Adapter
    access: ModelAccess
    substrate: Callable[[str], Substrate | RemoteAgent]
    proposer: Callable[[str], Proposer]
    judge: Callable[[str], Judge]
    sandbox: Sandbox | None = None
    sandbox_name: str = "none"
    checks: tuple[Check, ...] = ()
    """Of extra plugins, beyond those of the adapter and the substrate."""
    versions: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """`<kind>.<name>` -> `<distribution> <version>`, for the record."""
