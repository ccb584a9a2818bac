"""Proposers that drive an agent: which substrate it is, so that core asks that one what it would ask them."""

from __future__ import annotations

from collections.abc import Iterable

from harness2_core.api.sessions import DrivesAgent
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry


def driven_by(config: Config, registry: Registry, proposer: str, substrate: str) -> str:
    """Name of the substrate that runs the sessions of `proposer`; empty when it runs them itself.

    `substrate` is the run's own.
    """
    made: object = facade.proposer(registry, proposer, settings_of(registry, config, "proposer", proposer))
    if not isinstance(made, DrivesAgent):
        return ""
    return registry.find("substrate", made.drives or substrate).name


def all_driven(config: Config, registry: Registry, proposers: Iterable[str], substrate: str) -> tuple[str, ...]:
    """Names of the substrates that proposers drive beside the run's own."""
    own = registry.find("substrate", substrate).name
    found = {driven_by(config, registry, name, substrate) for name in proposers}
    return tuple(sorted(found - {"", own}))
