"""Which judge a configuration means, and how it is bound."""

from __future__ import annotations

from harness2_core.model.errors import ConfigError
from harness2_core.plugins.config import Config
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import role_settings, run_settings

from .binding import identity_of
from .judging import Bench
from .study import Study


def judge_of(config: Config, registry: Registry) -> str:
    """The judge's provider name, or an empty text when none is configured and there is no default."""
    configured = run_settings(config).judge or role_settings(config)["judge"].provider
    if not configured and not registry.names("judge"):
        return ""
    return registry.default("judge", configured)


def bench_of(config: Config, registry: Registry, study: Study) -> Bench:
    """The judge in force for a study."""
    name = judge_of(config, registry)
    if not name:
        raise ConfigError("no judge is installed", "install a plugin that judges this benchmark, and name it: `judge`")
    channel = role_settings(config)["judge"].channel
    return Bench(registry.find("judge", name).name, channel, identity_of(config, registry, "judge", name, study.store))
