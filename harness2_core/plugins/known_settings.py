"""Which settings there are: core's tables and those of installed providers, by the name of their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen

from harness2_core.model.errors import ConfigError, PluginError
from harness2_core.model.kinds import KINDS, plural
from harness2_core.model.nearest import near

from .config import FLAT, NAMED, Config
from .fields import SettingField, fields_of
from .given import Given
from .masking import masked
from .registry import Registry
from .run_settings import ROLES, LibrarySettings, PriceSettings, RoleSettings, RunSettings
from .toml_lines import Keys

CORE: Final[Mapping[str, type]] = {
    "run": RunSettings,
    "library": LibrarySettings,
    **{f"roles.{role}": RoleSettings for role in ROLES},
}
"""Table -> settings class."""

_KIND_OF: Final = {plural(kind): kind for kind in KINDS}


@frozen
class Value:
    """One setting as it stands: `shown` is masked where it is secret; `origin` is empty for a default."""

    key: str
    shown: str
    origin: str = ""


def values(config: Config, registry: Registry, *, defaults: bool = False) -> tuple[Value, ...]:
    """Everything given, table by table; with `defaults`, what is not given too. Checks nothing."""
    tables = [*FLAT, *(f"{table}.{name}" for table in NAMED for name in config.names(table))]
    if defaults:
        tables = list(dict.fromkeys([*CORE, *tables]))
    return tuple(value for table in tables for value in _values(config, registry, table, defaults=defaults))


def value_of(config: Config, registry: Registry, key: str, keys: Keys) -> Value:
    """One setting, given or at its default; `ConfigError` with near names when there is no such setting."""
    table, rest = split_keys(keys)
    given = config.given(table)
    found = {part: item for part, item in given.items() if part[: len(rest)] == rest}
    fields = {field.name: field for field in _fields(registry, table, strict=True)}
    field = fields.get(rest[0])
    if field is None and not found:
        raise ConfigError(
            f"there is no setting {key!r}",
            f"{near(rest[0], fields)}[{table}] has {', '.join(fields) or 'no settings'}",
        )
    if found:
        (last, item), *more = found.items()
        if more or last != rest:
            shown = (
                "{"
                + ", ".join(f"{'.'.join(part[len(rest) :])} = {_shown(field, part, it)}" for part, it in found.items())
                + "}"
            )
            return Value(key, shown, item.origin.where)
        return Value(key, _shown(field, last, item), item.origin.where)
    assert field is not None
    return Value(key, default_text(field))


def settings_class(registry: Registry, table: str) -> type | None:
    """The class behind a table; `None` for a provider without settings. `ConfigError` when nothing has that table."""
    if table in CORE:
        return CORE[table]
    first, _, name = table.partition(".")
    if first in _KIND_OF and name:
        return registry.settings_class(_KIND_OF[first], name)
    if first == "prices" and name:
        return PriceSettings
    if first == "roles":
        raise ConfigError(f"there is no role {name!r}", f"{near(name, ROLES)}known are {', '.join(ROLES)}")
    known = (*FLAT, *NAMED)
    raise ConfigError(f"there is no table [{table}]", f"{near(first, known)}known are {', '.join(known)}")


def split_keys(keys: Keys) -> tuple[str, Keys]:
    """(`adapters.tasks`, (`path`,)) of a key path; `ConfigError` when it names a table only."""
    count = 2 if keys[0] in NAMED else 1
    if len(keys) <= count:
        raise ConfigError(f"{'.'.join(keys)!r} is a table, not a setting", "name a setting, such as run.k")
    return ".".join(keys[:count]), keys[count:]


def default_text(field: SettingField) -> str:
    """The default as it is shown; empty for a required field."""
    return "" if field.required else masked(field.name, field.default, secret=field.secret)


def _values(config: Config, registry: Registry, table: str, *, defaults: bool) -> Iterator[Value]:
    fields = {field.name: field for field in _fields(registry, table)}
    given = config.given(table)
    for keys, item in given.items():
        yield Value(".".join((table, *keys)), _shown(fields.get(keys[0]), keys, item), item.origin.where)
    if defaults:
        named = {keys[0] for keys in given}
        for field in fields.values():
            if field.name not in named:
                yield Value(f"{table}.{field.name}", default_text(field) or "(required)")


def _fields(registry: Registry, table: str, *, strict: bool = False) -> tuple[SettingField, ...]:
    """Of a table; none for one that cannot be told, unless that is an error (`strict`)."""
    try:
        cls = settings_class(registry, table)
        return () if cls is None else fields_of(cls)
    except (ConfigError, PluginError):
        if strict:
            raise
        return ()


def _shown(field: SettingField | None, keys: Keys, item: Given) -> str:
    return masked(keys[-1], item.value, secret=field is not None and field.secret)
