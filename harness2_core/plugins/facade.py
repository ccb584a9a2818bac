"""Typed calls over the registry: what the layers above use instead of `make` and `pm.hook`.

Each call makes one thing and checks it against its protocol, so that a plugin that forgot a method is an error with
the method's name before anything is paid, instead of an AttributeError in the middle of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from attrs import frozen

from harness2_core.api import (
    Adapter,
    Engine,
    Happened,
    HarnessTree,
    Judge,
    Mode,
    ModelAccess,
    Proposer,
    Reflector,
    RemoteAgent,
    Sandbox,
    Selector,
    Store,
    Substrate,
)
from harness2_core.model.errors import ConfigError

from .discovery import Found
from .loading import blaming, broken
from .registry import Registry

NO_SANDBOX = ("", "none")
"""Names that mean: no confinement, and the run says so."""


def adapter(registry: Registry, name: str, settings: object | None = None) -> Adapter:
    return cast(Adapter, _made(registry, "adapter", name, settings, Adapter))


def substrate(registry: Registry, name: str, settings: object | None = None) -> Substrate | RemoteAgent:
    """A local agent (a `Substrate`) or one behind a service (a `RemoteAgent`)."""
    return cast("Substrate | RemoteAgent", _made(registry, "substrate", name, settings, Substrate, RemoteAgent))


def proposer(registry: Registry, name: str, settings: object | None = None) -> Proposer:
    return cast(Proposer, _made(registry, "proposer", name, settings, Proposer))


def mode(registry: Registry, name: str, settings: object | None = None) -> Mode:
    return cast(Mode, _made(registry, "mode", name, settings, Mode))


def selector(registry: Registry, name: str, settings: object | None = None) -> Selector:
    return cast(Selector, _made(registry, "selector", name, settings, Selector))


def reflector(registry: Registry, name: str, settings: object | None = None) -> Reflector:
    return cast(Reflector, _made(registry, "reflector", name, settings, Reflector))


def judge(registry: Registry, name: str, settings: object | None = None) -> Judge:
    return cast(Judge, _made(registry, "judge", name, settings, Judge))


def store(registry: Registry, name: str, settings: object | None, runs: Path) -> Store:
    """`runs` is the runs directory that the store may live in."""
    return cast(Store, _made(registry, "store", name, settings, Store, runs=runs))


def engine(registry: Registry, name: str, settings: object | None = None) -> Engine:
    return cast(Engine, _made(registry, "engine", name, settings, Engine))


def sandbox(registry: Registry, name: str, settings: object | None = None) -> Sandbox | None:
    """`None` for the names in `NO_SANDBOX`."""
    if name in NO_SANDBOX:
        return None
    return cast(Sandbox, _made(registry, "sandbox", name, settings, Sandbox))


def access(registry: Registry, name: str, settings: object | None = None) -> ModelAccess:
    return cast(ModelAccess, _made(registry, "access", name, settings, ModelAccess))


def choose_sandbox(
    registry: Registry, configured: str, settings: Callable[[str], object | None]
) -> tuple[str, Sandbox | None, str]:
    """(name, sandbox, why there is none) for `auto`, `none` or a provider's name; `settings` gives those of a name.

    `auto` is the default sandbox. Wherever a sandbox is wanted that is not there or does not work on this machine, that
    is a `ConfigError`: what agents and models write runs with a person's own rights only where the person said so.
    """
    if configured in NO_SANDBOX:
        return "", None, "the configuration asks for none"
    if configured == "auto" and not registry.names("sandbox"):
        raise ConfigError("no sandbox is installed", f"install a plugin that brings one, or {_UNCONFINED}")
    name = registry.default("sandbox", "" if configured == "auto" else configured)
    made = sandbox(registry, name, settings(name))
    assert made is not None
    with blaming(registry.find("sandbox", name), "asking whether it works"):
        reason = made.works()
    if reason:
        raise ConfigError(f"the sandbox {name!r} does not work here: {reason}", f"mend that, or {_UNCONFINED}")
    return name, made, ""


_UNCONFINED = (
    'let agents run with your own rights, which has to be said: --sandbox none, or sandbox = "none" under [run]'
)


@frozen
class Extra:
    """One plugin named in `[run] extra`, and its hooks as typed calls. Each raises a `PluginError` that blames it."""

    name: str
    found: Found
    _registry: Registry

    def event(self, event: Happened) -> None:
        self._call("harness2_event", event=event)

    def check_tree(self, tree: HarnessTree) -> tuple[str, ...]:
        """More problems of a tree."""
        return self._problems("harness2_check_tree", tree=tree)

    def preflight(self) -> tuple[str, ...]:
        """What would fail later."""
        return self._problems("harness2_preflight")

    def _problems(self, hook: str, **values: object) -> tuple[str, ...]:
        problems: list[str] = []
        for result in self._call(hook, **values):
            if isinstance(result, str) or not isinstance(result, Sequence) or _not_texts(result):
                raise broken(self.found, f"its hook `{hook}` returned {result!r} where a list of texts was expected")
            problems += result
        return tuple(problems)

    def _call(self, hook: str, **values: object) -> Sequence[object]:
        _, module = self._registry.listening(self.name)
        with blaming(self.found, f"its hook `{hook}`"):
            results = self._registry.loader.hook(hook, (module,))(**values)
        assert isinstance(results, list)
        return results


def extras(registry: Registry, names: Iterable[str]) -> tuple[Extra, ...]:
    """The plugins that `[run] extra` names, imported, in that order; a name twice counts once."""
    return tuple(Extra(name, registry.listening(name)[0], registry) for name in dict.fromkeys(names))


def _made(
    registry: Registry, kind: str, name: str, settings: object | None, *protocols: type, runs: Path | None = None
) -> object:
    """What the plugin makes, if it has every member of one of `protocols`; a store's factory is also given `runs`."""
    found = registry.find(kind, name)
    made = registry.make(kind, name, settings, *(() if runs is None else (runs,)))
    with blaming(found, "reading the members of what its factory returned"):
        lacking = {item: _lacking(made, item) for item in protocols}
    if all(lacking.values()):
        nearest = min(lacking, key=lambda item: len(lacking[item]))
        names = ", ".join(f"`{name}`" for name in lacking[nearest])
        raise broken(
            found, f"its factory returned {type(made).__name__}, which is no {nearest.__name__}: it lacks {names}"
        )
    return made


def _lacking(made: object, protocol: type) -> list[str]:
    """Members of a protocol that `made` has not, in the protocol's order."""
    members = [(name, member) for name, member in vars(protocol).items() if not name.startswith("_")]
    return [
        name
        for name, member in members
        if not hasattr(made, name) or (not isinstance(member, property) and not callable(getattr(made, name)))
    ]


def _not_texts(result: Sequence[object]) -> bool:
    return not all(isinstance(item, str) for item in result)
