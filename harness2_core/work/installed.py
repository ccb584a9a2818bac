"""Providers made from what is installed here, as an assignment names them.

A worker may live on another machine: what it has must equal what the driver has, plugin by plugin, or it refuses.
Providers are kept in this process as long as the settings stay the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve

from harness2_core.api.runtime import Store
from harness2_core.model.acceptance import Check
from harness2_core.model.assignment import Assignment
from harness2_core.model.canonical import is_digest
from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.plugins import facade
from harness2_core.plugins.registry import Registry
from harness2_core.plugins.settings import load_settings

from .content import resolve_content
from .providers import Providers

T = TypeVar("T")

_KEPT: Final = 8
"""Sets of settings whose providers this process keeps: an experiment has one."""

_lock: Final = threading.Lock()
_made: Final[dict[Assignment, Providers]] = {}


def providers_for(work: Assignment) -> Providers:
    """The providers of `work`. `PluginError` names what is missing, of another version, or broken."""
    key = evolve(work, requests=())
    with _lock:
        found = _made.get(key)
        if found is None:
            found = _make(key)
            while len(_made) >= _KEPT:
                del _made[next(iter(_made))]
            _made[key] = found
    return found


def differences(work: Assignment, registry: Registry) -> Iterable[str]:
    """How what is installed here differs from what `work` asks for, in words; nothing when it does not."""
    for name, wanted in work.providers.items():
        kind, _, own = name.partition(".")
        try:
            here = _version(registry, kind, own, wanted)
        except PluginError as error:
            yield f"{name} ({wanted}) is not usable here: {error.what}"
            continue
        if here != wanted:
            yield f"{name} is {here} here, and {wanted} where the run was started"


def _version(registry: Registry, kind: str, name: str, wanted: str) -> str:
    try:
        return registry.version_of(kind, f"{_distribution(wanted)}:{name}")
    except PluginError:
        return registry.version_of(kind, name)  # another distribution's: the difference is told with both names


def _distribution(source: str) -> str:
    """Of `<distribution> <version>`."""
    return source.rpartition(" ")[0]


def _make(work: Assignment) -> Providers:
    registry = Registry.installed()
    wrong = tuple(differences(work, registry))
    if wrong:
        raise PluginError("; ".join(wrong), "install the same plugins on every worker, then resume")
    runs = Path(work.runs)
    # The store's own settings hold no content: there is no store yet to take it from.
    name = _decided(work, registry, "store", work.store)
    store = facade.store(registry, name, _settings(work, registry, "store", name, Path), runs)
    resolve = partial(_resolved, store, runs / "work")
    make = partial(_maker, work, registry, resolve)
    sandbox = make("sandbox", facade.sandbox)(work.sandbox) if work.sandbox not in facade.NO_SANDBOX else None
    return Providers(
        store=store,
        adapter=make("adapter", facade.adapter)(_only(work, "adapter")),
        access=make("access", facade.access)(work.access or registry.default("access")),
        substrate=make("substrate", facade.substrate),
        proposer=make("proposer", facade.proposer),
        judge=make("judge", facade.judge),
        sandbox=sandbox,
        sandbox_name=work.providers.get(f"sandbox.{work.sandbox}", work.sandbox) if sandbox is not None else "none",
        checks=_checks(registry, work.extra),
        versions=work.providers,
    )


def _maker(
    work: Assignment,
    registry: Registry,
    resolve: Callable[[str], Path],
    kind: str,
    make: Callable[[Registry, str, object | None], T],
) -> Callable[[str], T]:
    @cache
    def made(name: str) -> T:
        decided = _decided(work, registry, kind, name)
        return make(registry, decided, _settings(work, registry, kind, decided, resolve))

    return made


def _decided(work: Assignment, registry: Registry, kind: str, name: str) -> str:
    """`distribution:name` of the provider that `name` (or token) means in this run, where two offer that name."""
    for key, source in work.providers.items():
        if key.startswith(f"{kind}."):
            qualified = f"{_distribution(source)}:{key.removeprefix(f'{kind}.')}"
            found = registry.find(kind, qualified)
            if name in (found.name, found.token, qualified):
                return qualified
    return name


def _settings(
    work: Assignment, registry: Registry, kind: str, name: str, resolve: Callable[[str], Path]
) -> object | None:
    """The settings that the assignment carries under the provider's own name."""
    cls = registry.settings_class(kind, name)
    if cls is None:
        return None
    text = work.settings.get(f"{kind}.{registry.find(kind, name).name}")
    return None if text is None else load_settings(cls, text, resolve)


def _resolved(store: Store, scratch: Path, text: str) -> Path:
    kind, _, digest = text.partition(":")
    return resolve_content(store, text, scratch) if kind in ("file", "tree") and is_digest(digest) else Path(text)


def _only(work: Assignment, kind: str) -> str:
    names = [name.partition(".")[2] for name in work.providers if name.startswith(f"{kind}.")]
    if len(names) != 1:
        raise ConfigError(
            f"an assignment names {len(names)} providers of the kind {kind}, where exactly one is needed",
            "this is a mistake of the driver: report it with the command that was run",
        )
    return names[0]


def _checks(registry: Registry, extra: Iterable[str]) -> tuple[Check, ...]:
    return tuple(plugin.check_tree for plugin in facade.extras(registry, extra))
