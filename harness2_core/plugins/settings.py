"""Settings: from what was given to an instance of a provider's settings class, and from there to texts and back.

`build` reads people's values; `dump_settings` and `load_settings` carry an instance to a worker that may run on another
machine; `identity_settings` is the part of it that a request's digest depends on.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from harness2_core.model.canonical import Json, canonical
from harness2_core.model.errors import ConfigError, Harness2Error, InvalidValue
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.nearest import near

from .fields import SettingField, default_in, fields_of
from .given import Given, meaning
from .masking import MASK
from .toml_lines import Keys

T = TypeVar("T")


def build(cls: type[T], given: Mapping[Keys, Given], table: str, file: str = "harness2.toml") -> T:
    """An instance of `cls` from the values of `table` (key path inside the table -> value). `file` is where more of
    them may be written, for people."""
    fields = {field.name: field for field in fields_of(cls)}
    parts: dict[str, dict[Keys, Given]] = {}
    for keys, item in given.items():
        if keys[0] not in fields:
            raise ConfigError(
                f"{item.origin.where}: [{table}] has no setting {keys[0]!r}",
                f"{near(keys[0], fields)}it has {', '.join(fields) or 'no settings'}",
            )
        parts.setdefault(keys[0], {})[keys[1:]] = item
    lacking = [name for name, field in fields.items() if field.required and name not in parts]
    if lacking:
        variable = f"HARNESS2_{table}.{lacking[0]}".replace(".", "__").replace("-", "_").upper()
        raise ConfigError(
            f"[{table}] lacks {', '.join(f'`{name}`' for name in lacking)}",
            f"set it under [{table}] in {file}, as the variable {variable} or as -o {table}.{lacking[0]}=...",
        )
    values = {name: meaning(fields[name], part, f"{table}.{name}") for name, part in parts.items()}
    try:
        return cls(**{fields[name].alias: value for name, value in values.items()})
    except (Harness2Error, ValueError, TypeError) as error:
        raise _refused(error, cls, table, parts, fields) from error


def dump_settings(instance: object, path_text: Callable[[Path, bool], str]) -> str:
    """An instance as canonical JSON for a worker. `path_text(path, content)` says what stands for a path.

    `content` is true for paths whose content matters: the caller puts it into the store and gives its digest.
    """
    data: dict[str, Json] = {}
    for field in fields_of(type(instance)):
        data[field.name] = _plain(getattr(instance, field.name), functools.partial(_told, path_text, field.content))
    return canonical(data).decode()


def load_settings(cls: type[T], text: str, resolve: Callable[[str], Path]) -> T:
    """The inverse of `dump_settings`; `resolve` gives the local path that a path's text stands for."""
    fields = {field.name: field for field in fields_of(cls)}
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or set(data) - set(fields):
            raise ValueError(f"it has the keys {sorted(data) if isinstance(data, dict) else type(data).__name__}")
        return cls(**{fields[name].alias: _restored(fields[name], value, resolve) for name, value in data.items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidValue(
            f"settings that are none of {cls.__qualname__}: {error}",
            "driver and worker need the same version of the plugin",
        ) from error


def identity_settings(instance: object, digest_of: Callable[[Path], str]) -> Mapping[str, str]:
    """The settings that results depend on, as texts: the form that requests hold.

    Fields at their default and places are left out; a path whose content matters is there as `digest_of` it, even at
    its default, since what a file holds is no constant.
    """
    texts: dict[str, str] = {}
    for field in fields_of(type(instance)):
        value, default = getattr(instance, field.name), default_in(instance, field.name)
        if field.place or value is None or (value == default and not (field.content and value)):
            continue
        plain = _plain(value, digest_of)
        texts[field.name] = plain if isinstance(plain, str) else canonical(plain).decode()
    return FrozenMap(texts)


def _told(path_text: Callable[[Path, bool], str], content: bool, path: Path) -> str:
    return path_text(path, content)


def _plain(value: object, path_text: Callable[[Path], str]) -> Json:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Path):
        return path_text(value)
    if isinstance(value, tuple | list):
        return [_plain(item, path_text) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item, path_text) for key, item in value.items()}
    raise InvalidValue(f"a setting holds {type(value).__name__}", "settings hold texts, integers, switches and paths")


def _restored(field: SettingField, value: object, resolve: Callable[[str], Path]) -> object:
    if value is None:
        return None
    match field.form:
        case "path":
            return resolve(_a_text(value))
        case "paths" | "texts" if isinstance(value, list):
            return tuple(resolve(_a_text(item)) if field.form == "paths" else _a_text(item) for item in value)
        case "path table" if isinstance(value, dict):
            return FrozenMap({key: resolve(_a_text(item)) for key, item in value.items()})
        case "text table" if isinstance(value, dict):
            return FrozenMap({key: _a_text(item) for key, item in value.items()})
    return value


def _a_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a text was expected")
    return value


def _refused(
    error: Exception,
    cls: type,
    table: str,
    parts: Mapping[str, Mapping[Keys, Given]],
    fields: Mapping[str, SettingField],
) -> ConfigError:
    """The class's own validators refused: their message, with the origin of the field that it names."""
    what, remedy = (error.what, error.remedy) if isinstance(error, Harness2Error) else (str(error), "")
    what = what.removeprefix(f"{cls.__name__}.")  # people know the table, which stands before it
    named = [name for name in parts if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", what)]
    for name, part in parts.items():
        if fields[name].secret:  # a validator quotes the value that it refuses
            for item in part.values():
                what = what.replace(repr(item.value), MASK).replace(str(item.value) or "\0", MASK)
    origins = dict.fromkeys(item.origin.where for name in named or parts for item in parts[name].values())
    where = f"{', '.join(origins)}: " if origins else ""
    return ConfigError(f"{where}[{table}] {what}", remedy or f"mend the table [{table}]")
