"""The registry: from a kind and a name to a provider, its settings class, and the thing itself.

Look-up reads metadata only; `provider`, `settings_class` and `make` import the one module they need. Every failure is
a `PluginError` that names plugin, distribution and the way out. A registry is made per invocation and holds no global
state; worker threads may share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Final

import attrs

from harness2_core.model.errors import PluginError
from harness2_core.model.kinds import DEFAULTS, plural
from harness2_core.model.nearest import near
from harness2_core.model.provider import Provider

from .built_in import BUILT_IN
from .catalog import Catalog, nothing_installed
from .discovery import Found, scan
from .loading import Loader, blaming, broken
from .off_switches import OffSwitch, check_names

_NO_HOOK: Final = "listener"


def defaults_table(loader: Loader, found: Found) -> Mapping[str, str]:
    """The constant `DEFAULTS` of a `defaults` entry's module: kind -> name."""
    table = getattr(loader.imported(found, found.module), "DEFAULTS", None)
    if not isinstance(table, Mapping) or not all(isinstance(part, str) for pair in table.items() for part in pair):
        raise broken(found, f"{found.module}.DEFAULTS is no table of kind to name")
    return table


class Registry:
    """What is installed and switched on, and what of it has been imported."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._loader = Loader()
        self._providers: dict[Found, Provider[object]] = {}

    @classmethod
    def installed(cls, disabled: Iterable[OffSwitch] = (), path: Sequence[str] | None = None) -> Registry:
        """The registry of what is on `path`, by default `sys.path`.

        `PluginError` when an off switch names nothing that is installed.
        """
        found = scan(path)
        switches = tuple(disabled)
        check_names(switches, found)
        return cls(Catalog(found, switches, BUILT_IN))

    def find(self, kind: str, name: str) -> Found:
        """The entry that `name` means: a name, a token, or `distribution:name`."""
        return self.catalog.find(kind, name)

    def names(self, kind: str) -> tuple[str, ...]:
        """The names of a kind that can be used, sorted."""
        return self.catalog.names(kind)

    def version_of(self, kind: str, name: str) -> str:
        """`<distribution> <version>`, as records have it."""
        return self.find(kind, name).source

    def default(self, kind: str, configured: str = "") -> str:
        """The name to use: the configured one, else the table's of the bundle, else the only one installed."""
        if configured:
            self.find(kind, configured)
            return configured
        for name, source in self._defaults(kind).items():
            try:
                self.find(kind, name)
            except PluginError as error:
                raise PluginError(f"{error.what} (the default that {source} sets)", error.remedy) from error
            return name
        candidates = self.catalog.all(kind)
        own = [item.name for item in candidates if item in BUILT_IN]
        if own:
            return own[0]
        if not candidates:
            raise PluginError(f"no {kind} to use", nothing_installed(kind))
        if len(candidates) > 1:
            listed = ", ".join(f"{item.name} ({item.source})" for item in candidates)
            raise PluginError(
                f"several {plural(kind)} are installed and none is configured: {listed}",
                f'name one, as in `{kind} = "{candidates[0].name}"` under [run] of harness2.toml',
            )
        return candidates[0].name

    def provider(self, kind: str, name: str) -> Provider[object]:
        """The provider that the plugin's registration hook returns under that name."""
        found = self.find(kind, name)
        known = self._providers.get(found)
        if known is None:
            known = self._providers[found] = self._registered(found)
        return known

    def settings_class(self, kind: str, name: str) -> type | None:
        """The provider's settings class, an attrs class; `None` when it has no settings."""
        found, provider = self.find(kind, name), self.provider(kind, name)
        if not provider.settings:
            return None
        value = self._loader.reference(found, provider.settings, "settings class")
        if not isinstance(value, type) or not attrs.has(value):
            raise broken(found, f"its settings {provider.settings!r} are no attrs class")
        return value

    def factory(self, kind: str, name: str) -> object:
        """The provider's factory, imported and not called."""
        found = self.find(kind, name)
        value = self._loader.reference(found, self.provider(kind, name).factory, "factory")
        if not callable(value):
            raise broken(found, f"its factory {self.provider(kind, name).factory!r} is not callable")
        return value

    def make(self, kind: str, name: str, settings: object | None = None, *args: object) -> object:
        """What the factory returns, called with the settings (if the provider has any) and `args`.

        Without `settings` the class's defaults are used; `ConfigError` is not raised here, since the settings have
        been validated when they were read.
        """
        found, factory, cls = self.find(kind, name), self.factory(kind, name), self.settings_class(kind, name)
        if cls is None and settings is not None:
            raise broken(found, f"it takes no settings, but was given {type(settings).__name__}")
        if cls is not None and settings is not None and not isinstance(settings, cls):
            raise broken(found, f"it takes {cls.__name__}, but was given {type(settings).__name__}")
        assert callable(factory)
        with blaming(found, f"its factory {self.provider(kind, name).factory!r}"):
            given = () if cls is None else (cls() if settings is None else settings,)
            made: object = factory(*given, *args)
        return made

    def listening(self, name: str) -> tuple[Found, ModuleType]:
        """The module of a plugin named in `[run] extra`: a listener's name, or `kind.name` of any other plugin."""
        kind, dot, rest = name.partition(".")
        found = self.find(kind, rest) if dot else self.find(_NO_HOOK, name)
        return found, self._loader.module(found)

    @property
    def loader(self) -> Loader:
        """For the typed calls of hooks in `facade`."""
        return self._loader

    def _registered(self, found: Found) -> Provider[object]:
        if found.kind == _NO_HOOK:
            raise PluginError(f"{found} is a listener and provides nothing", "name it in `extra` under [run]")
        hook = f"harness2_{plural(found.kind)}"
        module = self._loader.module(found)
        if not self._loader.implements(module, hook):
            raise broken(found, f"its module {found.module!r} implements no hook `{hook}`")
        with blaming(found, f"its hook `{hook}`"):
            results = self._loader.hook(hook, (module,))()
        assert isinstance(results, list)
        items = [item for result in results for item in (result if isinstance(result, list | tuple) else [result])]
        providers: list[Provider[object]] = [item for item in items if isinstance(item, Provider)]
        if not results or len(providers) < len(items):
            wrong = next((type(item).__name__ for item in items if not isinstance(item, Provider)), "None")
            raise broken(found, f"its hook `{hook}` returned {wrong} where a list of Provider was expected")
        for provider in providers:
            if provider.name == found.name:
                return provider
        names = [provider.name for provider in providers]
        raise broken(
            found, f"its hook `{hook}` returns no provider {found.name!r}; {near(found.name, names)}it has {names}"
        )

    def _defaults(self, kind: str) -> Mapping[str, str]:
        """Default name of a kind -> who says so; at most one entry."""
        said: dict[str, str] = {}
        for found in self.catalog.all(DEFAULTS):
            table = defaults_table(self._loader, found)
            if kind in table:
                said[table[kind]] = found.source
        if len(said) > 1:
            raise PluginError(
                f"two tables of defaults disagree on the {kind}: "
                + "; ".join(f"{source} says {name!r}" for name, source in said.items()),
                f"set `{kind}` under [run] in harness2.toml, or uninstall one of them",
            )
        return said
