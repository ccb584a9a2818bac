"""The hooks: the whole plugin contract. A plugin module implements some of these, marked with `hookimpl`.

Registration hooks return providers and do nothing else; they are called once, when a provider of the module is first
used. `harness2_event`, `harness2_check_tree` and `harness2_preflight` are called only for plugins that `[run] extra`
names, and are part of the experiment's identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pluggy

from harness2_core.model.provider import Provider

if TYPE_CHECKING:
    import typer

    from harness2_core.model.events import Happened
    from harness2_core.model.tree import HarnessTree

    from .adapters import Adapter
    from .judges import Judge
    from .runtime import Engine, ModelAccess, Sandbox, Store
    from .sessions import Proposer
    from .strategies import Mode, Reflector, Selector
    from .substrates import RemoteAgent, Substrate

PROJECT: Final = "harness2"
_spec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)


@_spec
def harness2_adapters() -> Sequence[Provider[Adapter]]:
    """Benchmarks. The factory returns an `Adapter`."""
    raise NotImplementedError


@_spec
def harness2_substrates() -> Sequence[Provider[Substrate | RemoteAgent]]:
    """Agent frameworks; the entry point's token (`oc`) is the name used in namespaces."""
    raise NotImplementedError


@_spec
def harness2_proposers() -> Sequence[Provider[Proposer]]:
    """Runners of improver-side sessions."""
    raise NotImplementedError


@_spec
def harness2_modes() -> Sequence[Provider[Mode]]:
    """Modes; the entry point's token (`agg`) is the name used in namespaces."""
    raise NotImplementedError


@_spec
def harness2_selectors() -> Sequence[Provider[Selector]]:
    """Rules that pick one final, blind."""
    raise NotImplementedError


@_spec
def harness2_reflectors() -> Sequence[Provider[Reflector]]:
    """Makers of lessons."""
    raise NotImplementedError


@_spec
def harness2_judges() -> Sequence[Provider[Judge]]:
    """Graders of what was delivered."""
    raise NotImplementedError


@_spec
def harness2_stores() -> Sequence[Provider[Store]]:
    """Homes of results. The factory is called with the settings and the runs directory (a `Path`)."""
    raise NotImplementedError


@_spec
def harness2_engines() -> Sequence[Provider[Engine]]:
    """Where work runs."""
    raise NotImplementedError


@_spec
def harness2_sandboxes() -> Sequence[Provider[Sandbox]]:
    """Confinement of executors, sessions and judges."""
    raise NotImplementedError


@_spec
def harness2_access() -> Sequence[Provider[ModelAccess]]:
    """Ways to reach models: gateways, vaults."""
    raise NotImplementedError


@_spec
def harness2_commands() -> Sequence[Provider[typer.Typer]]:
    """Commands; the entry point's name is the command's, the factory returns a `typer.Typer` or a function."""
    raise NotImplementedError


@_spec
def harness2_event(event: Happened) -> None:
    """Something happened in a sweep. Listeners run on one thread, in order; one that raises or lags is dropped."""


@_spec
def harness2_check_tree(tree: HarnessTree) -> Sequence[str]:
    """More problems of a proposed tree, in words an improver can act on."""
    raise NotImplementedError


@_spec
def harness2_preflight() -> Sequence[str]:
    """What would fail later, each with its remedy."""
    raise NotImplementedError
