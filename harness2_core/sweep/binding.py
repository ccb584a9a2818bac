"""How parts enter identities, records and assignments: settings as texts, versions by name."""

from __future__ import annotations

from collections.abc import Mapping

from harness2_core import __version__
from harness2_core.api.runtime import Store
from harness2_core.api.substrates import TellsVersion
from harness2_core.model.assignment import Assignment
from harness2_core.model.canonical import canonical, digest_bytes
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import prices_of, run_settings
from harness2_core.plugins.settings import dump_settings, identity_settings
from harness2_core.work.attempts import host
from harness2_core.work.content import put_content
from harness2_core.work.process import limits_in_force

from .driving import all_driven, driven_by
from .naming import Names
from .study import Role


def roles_of(config: Config, registry: Registry, names: Names, store: Store) -> dict[str, Role]:
    roles = {}
    for role, bound in names.roles.items():
        if role == "judge":
            continue
        kind = "substrate" if role == "executor" else "proposer"
        settings = identity_of(config, registry, kind, bound.provider, store)
        driven = "" if role == "executor" else driven_by(config, registry, bound.provider, names.substrate)
        if driven:
            told = identity_of(config, registry, "substrate", driven, store)
            settings |= {f"substrates.{driven}.{key}": value for key, value in told.items()}
        roles[role] = Role(registry.find(kind, bound.provider).name, bound.channel, settings)
    return roles


def identity_of(config: Config, registry: Registry, kind: str, name: str, store: Store) -> dict[str, str]:
    settings = settings_of(registry, config, kind, name)
    return {} if settings is None else dict(identity_settings(settings, lambda path: put_content(store, path)))


def identified(config: Config, registry: Registry, kind: str, name: str, store: Store) -> str:
    """A strategy's name, and a digest of its settings where they are not the defaults."""
    settings = identity_of(config, registry, kind, name, store)
    found = registry.find(kind, name).name
    return f"{found}:{digest_bytes(canonical(settings))[:16]}" if settings else found


def recorded_of(config: Config, registry: Registry, names: Names) -> dict[str, str]:
    used = {
        "adapter": names.adapter,
        "substrate": names.substrate,
        "selector": names.selector,
        "reflector": names.reflector,
        "store": names.store,
        "engine": names.engine,
        "access": names.access,
    } | ({"sandbox": names.sandbox} if names.sandbox else {})
    versions = {kind: registry.version_of(kind, name) for kind, name in used.items()}
    proposers = _proposers(names)
    versions |= {f"proposer.{name}": registry.version_of("proposer", name) for name in sorted(proposers)}
    versions |= {f"mode.{token}": registry.version_of("mode", name) for token, name in names.modes.items()}
    driven = all_driven(config, registry, proposers, names.substrate)
    versions |= {f"substrate.{name}": registry.version_of("substrate", name) for name in driven}
    run = run_settings(config)
    places = {"engine_name": names.engine, "sandbox_name": names.sandbox or "none", "host": host()}
    allowed = {"network": run.network} | {
        name: str(getattr(run, name)) for name in ("memory_mb", "processes", "disk_mb")
    }
    return versions | places | allowed | {"core": __version__, "limits": limits_in_force()}


def agents_driven(config: Config, registry: Registry, names: Names) -> dict[str, str]:
    """`agent.<substrate>` -> the version that its program tells, of each that proposers drive beside the run's own."""
    found = {}
    for name in all_driven(config, registry, _proposers(names), names.substrate):
        agent: object = facade.substrate(registry, name, settings_of(registry, config, "substrate", name))
        if isinstance(agent, TellsVersion):
            found[f"agent.{name}"] = agent.version()
    return found


def assignment_of(
    config: Config, registry: Registry, names: Names, roles: Mapping[str, Role], store: Store
) -> Assignment:
    """What workers need to make the same providers: versions, and settings as texts."""
    run = run_settings(config)
    used = [("adapter", names.adapter), ("substrate", names.substrate), ("store", names.store)]
    used += [("proposer", role.provider) for name, role in roles.items() if name != "executor"]
    proposers = {role.provider for name, role in roles.items() if name != "executor"}
    used += [("substrate", name) for name in all_driven(config, registry, proposers, names.substrate)]
    used += [("access", names.access)] + ([("sandbox", names.sandbox)] if names.sandbox else [])
    bound = names.roles["judge"].provider
    judge = registry.default("judge", run.judge or bound) if registry.names("judge") else ""
    used += [("judge", judge)] if judge else []
    providers, settings = {}, {}
    for kind, name in used:
        key = f"{kind}.{registry.find(kind, name).name}"
        providers[key] = registry.version_of(kind, name)
        held = settings_of(registry, config, kind, name)
        if held is not None:
            settings[key] = dump_settings(
                held, lambda path, content: put_content(store, path) if content else str(path)
            )
    return Assignment(
        requests=(),
        providers=providers,
        settings=settings,
        store=registry.find("store", names.store).name,
        runs=str(run.runs),
        sandbox=names.sandbox,
        access=registry.find("access", names.access).name,
        network=run.network,
        memory_mb=run.memory_mb,
        processes=run.processes,
        disk_mb=run.disk_mb,
        keep_workspaces=run.keep_workspaces,
        fsync=run.fsync,
        prices=prices_of(config),
        extra=run.extra,
    )


def _proposers(names: Names) -> set[str]:
    return {names.roles[role].provider for role in ("improver", "selector", "reflector")}
