"""Assignments: what an engine carries to a worker, and what comes back. Picklable, without host-bound objects."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from .canonical import Digest
from .frozen import FrozenMap, frozen_map, strings, texts
from .prices import Price
from .requests import Request


def _prices(items: Mapping[str, Price]) -> FrozenMap[Price]:
    return frozen_map(items)


@frozen
class Assignment:
    """One request, or a batch of draws of one tree for an adapter that owns its runtime."""

    requests: tuple[Request, ...]
    providers: FrozenMap[str] = field(converter=texts)
    """`<kind>.<name>` -> `<distribution> <version>`; a worker that has another one refuses by name."""
    settings: FrozenMap[str] = field(converter=texts)
    """`<kind>.<name>` -> the provider's settings as canonical JSON."""
    store: str
    """Name of the store's provider."""
    runs: str
    """The runs directory as the worker sees it."""
    sandbox: str = ""
    """Name of the sandbox's provider; empty: none, and the run says so."""
    access: str = ""
    network: str = "open"
    """What the configuration allows; the task's promise may be stricter."""
    memory_mb: int = 0
    processes: int = 0
    disk_mb: int = 0
    keep_workspaces: bool = False
    fsync: bool = False
    prices: FrozenMap[Price] = field(converter=_prices, factory=FrozenMap)
    """Model -> the price that the configuration states for it."""
    extra: tuple[str, ...] = field(converter=strings, default=())
    """Plugins that `[run] extra` names: their checks of proposed trees take part."""


@frozen
class Ended:
    """One request's attempt is over. `final`: its record is in the store; else `cause` says why it was lost."""

    request: Digest
    final: bool
    cause: str = ""
    wait_seconds: int = 0
    note: str = ""
