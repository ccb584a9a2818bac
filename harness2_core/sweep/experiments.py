"""Which experiment of a runs directory a command is about: named, configured, or the newest.

What was configured comes first, if it has begun. An option such as `--k 3` is never answered with another experiment.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core import HOME
from harness2_core.model.errors import ConfigError, InvalidValue
from harness2_core.model.namespace import Namespace, parse_namespace
from harness2_core.model.nearest import near
from harness2_core.plugins import facade
from harness2_core.plugins.config import Config
from harness2_core.plugins.provider_settings import settings_of
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.run_settings import run_settings
from harness2_core.plugins.toml_lines import Keys

from .experiment import config_path, read_experiment

NAMING: Final = ("substrate", "k", "seed", "tag")
"""Keys of `[run]` that stand in a namespace; the bench's name is the adapter's own."""


@frozen
class Chosen:
    """`config` means `namespace`, the home namespace; `said` is to be told when it is not what was configured."""

    config: Config
    namespace: Namespace
    said: str = ""


def begun(runs: Path) -> tuple[Namespace, ...]:
    """The home namespaces of the experiments in a runs directory, newest first."""
    return tuple(namespace for _, namespace in sorted(_found(runs), key=lambda item: (-item[0], str(item[1]))))


def choose(config: Config, registry: Registry, name: str = "") -> Chosen:
    """The experiment `name` (of any of its modes), else the configured one if it has begun, else the newest.

    `ConfigError` when `name` is no experiment of the runs directory, or when options contradict it.
    """
    configured = home_of(config, registry)
    runs = run_settings(config).runs
    known = begun(runs)
    by_option = [key for key in NAMING if _is_option(config, key)]
    if name:
        return _named(config, registry, configured, known, name, by_option)
    same = [namespace for namespace in known if namespace.bench == configured.bench]
    if by_option or not same or (configured in same and any(config.value("run", key) for key in NAMING)):
        newer = bool(same) and configured in same and same[0] != configured
        return Chosen(config, configured, f"{configured}; {same[0]} is newer: see --ns" if newer else "")
    if same[0] == configured:
        return Chosen(config, configured)
    return Chosen(
        _configured(config, registry, same[0], runs), same[0], f"{same[0]}, the newest in {runs}: --ns names another"
    )


def home_of(config: Config, registry: Registry) -> Namespace:
    """The home namespace of the experiment that the configuration describes, begun or not."""
    run = run_settings(config)
    adapter = registry.default("adapter", run.bench)
    substrate = registry.find("substrate", registry.default("substrate", run.substrate))
    spec = facade.adapter(registry, adapter, settings_of(registry, config, "adapter", adapter)).spec
    return Namespace(spec.name, substrate.short, HOME, run.k, run.seed, run.tag)


def _found(runs: Path) -> Iterator[tuple[int, Namespace]]:
    """(time of its last event, namespace) of every experiment."""
    folder = runs / "adapt"
    for directory in folder.iterdir() if folder.is_dir() else ():
        try:
            namespace = parse_namespace(directory.name)
        except InvalidValue:
            continue
        kept = directory / "config.json"
        if namespace.mode == HOME and kept.is_file():
            times = [path.stat().st_mtime_ns for path in (kept, directory / "events.jsonl") if path.is_file()]
            yield max(times), namespace


def _named(
    config: Config,
    registry: Registry,
    configured: Namespace,
    known: tuple[Namespace, ...],
    name: str,
    by_option: list[str],
) -> Chosen:
    runs = run_settings(config).runs
    wanted = parse_namespace(name).of_mode(HOME)
    if by_option:
        raise ConfigError(f"--ns {name} and the option for {by_option[0]!r} both say which experiment", "give one")
    if wanted not in known:
        names = [str(namespace) for namespace in known]
        raise ConfigError(
            f"{runs} has no experiment {str(wanted)!r}",
            f"{near(str(wanted), names)}known are {', '.join(names[:20]) or 'none'}",
        )
    if wanted.bench != configured.bench:
        raise ConfigError(
            f"{wanted} is of the benchmark {wanted.bench!r}, and the configuration brings {configured.bench!r}",
            "give the configuration of that benchmark: --config FILE",
        )
    return Chosen(_configured(config, registry, wanted, runs), wanted)


def _configured(config: Config, registry: Registry, namespace: Namespace, runs: Path) -> Config:
    """The configuration with the parts of `namespace` in place of its own."""
    values: dict[Keys, str] = {
        ("run", "k"): str(namespace.k),
        ("run", "seed"): "" if namespace.seed is None else str(namespace.seed),
        ("run", "tag"): namespace.tag,
    }
    run = run_settings(config)
    if registry.find("substrate", registry.default("substrate", run.substrate)).short != namespace.substrate:
        values["run", "substrate"] = namespace.substrate
    experiment = read_experiment(config_path(runs, namespace))
    if experiment is not None and not run.modes:
        tokens = {found.short for found in registry.catalog.all("mode")}
        values["run", "modes"] = ",".join(mode for mode in experiment.plans if mode in tokens)
    return config.over(f"experiment {namespace}", values)


def _is_option(config: Config, key: str) -> bool:
    given = config.value("run", key)
    return given is not None and given.origin.where.startswith("option ")
