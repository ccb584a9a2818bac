"""A provider's settings from the configuration: which table is its own, and that no table belongs to nobody."""

from __future__ import annotations

from harness2_core.model.errors import ConfigError
from harness2_core.model.kinds import KINDS, plural

from .config import Config
from .registry import Registry


def table_of(registry: Registry, kind: str, name: str) -> str:
    """`adapters.tasks` for the adapter that `name` means (a token and `distribution:name` too)."""
    return f"{plural(kind)}.{registry.find(kind, name).name}"


def settings_of(registry: Registry, config: Config, kind: str, name: str) -> object | None:
    """The settings of a provider as configured; `None` for one that has no settings, which may have no table either."""
    table, cls = table_of(registry, kind, name), registry.settings_class(kind, name)
    if cls is not None:
        made: object = config.structure(table, cls)
        return made
    for keys, given in config.given(table).items():
        raise ConfigError(
            f"{given.origin.where}: [{table}] sets {keys[0]!r}, but {registry.find(kind, name)} has no settings",
            "leave the table out",
        )
    return None


def check_tables(registry: Registry, config: Config) -> None:
    """Every table of a provider belongs to one that is installed, be it switched off: `ConfigError` with near names."""
    for kind in KINDS:
        if kind != "listener":
            known = {item.name for item in registry.catalog.scan.found if item.kind == kind}
            config.check_names(plural(kind), sorted(known | set(registry.names(kind))))
