"""What would fail later, found before anything is paid: `check`, which `run` always does first."""

from __future__ import annotations

from harness2_core.api.adapters import Preflights
from harness2_core.model.errors import ConfigError
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import run_settings

from .judges import judge_of
from .naming import names_of


def check_study(config: Config, registry: Registry) -> None:
    """Asks every provider that takes part; raises one `ConfigError` with all their answers."""
    found = findings(config, registry)
    if found:
        raise ConfigError(
            "not ready:\n" + "\n".join(f"  - {problem}" for problem in found), "mend these, then run again"
        )


def findings(config: Config, registry: Registry) -> tuple[str, ...]:
    """What keeps a run from starting, each with its remedy."""
    names, _ = names_of(config, registry)

    def given(kind: str, name: str) -> object | None:
        return settings_of(registry, config, kind, name)

    parts: list[tuple[str, object]] = [
        (f"adapter {names.adapter}", facade.adapter(registry, names.adapter, given("adapter", names.adapter))),
        (
            f"substrate {names.substrate}",
            facade.substrate(registry, names.substrate, given("substrate", names.substrate)),
        ),
    ]
    for name in sorted({names.roles[role].provider for role in ("improver", "selector", "reflector")}):
        parts.append((f"proposer {name}", facade.proposer(registry, name, given("proposer", name))))
    judge = judge_of(config, registry)
    if judge:
        parts.append((f"judge {judge}", facade.judge(registry, judge, given("judge", judge))))
    if names.sandbox:
        parts.append(
            (f"sandbox {names.sandbox}", facade.sandbox(registry, names.sandbox, given("sandbox", names.sandbox)))
        )
    problems = [
        f"{label}: {problem}" for label, part in parts if isinstance(part, Preflights) for problem in part.preflight()
    ]
    for extra in facade.extras(registry, run_settings(config).extra):
        problems += [f"{extra.name}: {problem}" for problem in extra.preflight()]
    return tuple(problems)
