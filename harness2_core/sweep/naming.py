"""Which provider plays which part: configured, else the default, else the only one installed."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import RoleSettings, role_settings, run_settings, substrate_of


@frozen
class Names:
    """Which provider plays which part, by name; for substrates and modes by token."""

    adapter: str
    substrate: str
    token: str
    modes: Mapping[str, str]
    """Token -> name."""
    selector: str
    reflector: str
    store: str
    engine: str
    sandbox: str
    access: str
    roles: Mapping[str, RoleSettings]


def names_of(config: Config, registry: Registry) -> tuple[Names, tuple[str, ...]]:
    """The parts, and what the user should be told about them."""
    run = run_settings(config)
    given = role_settings(config)
    substrate = registry.default("substrate", substrate_of(run, given))
    wanted = tuple(name.lower() for name in run.modes) or (registry.default("mode"),)
    found = [registry.find("mode", name) for name in wanted]
    sandbox, _, reason = facade.choose_sandbox(
        registry, run.sandbox, lambda name: settings_of(registry, config, "sandbox", name)
    )
    notes = [] if sandbox else [f"no sandbox: agents run with your own rights ({reason})"]
    other = given["executor"].provider
    if other and registry.find("substrate", other) != registry.find("substrate", substrate):
        notes.append(f"[roles.executor] names the substrate {other!r}, [run] {substrate!r}: that of [run] is used")
    names = Names(
        adapter=registry.default("adapter", run.bench),
        substrate=substrate,
        token=registry.find("substrate", substrate).token or substrate,
        modes={item.token or item.name: name for item, name in zip(found, wanted, strict=True)},
        selector=registry.default("selector", run.selector),
        reflector=registry.default("reflector", run.reflector),
        store=registry.default("store", run.store),
        engine=registry.default("engine", run.engine),
        sandbox=sandbox,
        access=registry.default("access", run.access),
        roles=_bound(given, registry, substrate),
    )
    return names, tuple(notes)


def _bound(roles: Mapping[str, RoleSettings], registry: Registry, substrate: str) -> dict[str, RoleSettings]:
    """Every role with the name of its provider."""
    bound = {**roles, "executor": evolve(roles["executor"], provider=substrate)}
    for role in ("improver", "selector", "reflector"):
        bound[role] = evolve(roles[role], provider=registry.default("proposer", roles[role].provider))
    return bound
