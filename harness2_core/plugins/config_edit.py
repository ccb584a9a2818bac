"""Setting one value in the text of a `harness2.toml`: everything else, comments too, stays as it is."""

from __future__ import annotations

import tomllib
from typing import TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Table

from harness2_core.model.errors import ConfigError

from .fields import SettingField
from .toml_lines import Keys

Plain: TypeAlias = "str | int | bool | list[str]"


def toml_value(field: SettingField | None, text: str) -> Plain:
    """What a person typed, as the file holds it. It has been validated as an option's text before."""
    form = field.form if field is not None else "text"
    if form == "integer":
        return int(text)
    if form == "switch":
        return text.strip().lower() in ("true", "yes", "on", "1")
    if form in ("texts", "paths"):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def with_value(text: str, keys: Keys, value: Plain, where: str) -> str:
    """The file's text with `keys` set to `value`; `where` names the file in errors."""
    try:
        document = tomlkit.parse(text)
        _set(document, keys, value, where)
        made = tomlkit.dumps(document)
        found: object = tomllib.loads(made)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{where}: {error}", "mend the TOML by hand first") from error
    for key in keys:
        found = found[key] if isinstance(found, dict) and key in found else None
    if found != value:
        raise ConfigError(f"{where}: `{'.'.join(keys)}` could not be set there", "set it by hand")
    return made


def _set(document: tomlkit.TOMLDocument, keys: Keys, value: Plain, where: str) -> None:
    at: AbstractTable | tomlkit.TOMLDocument = document
    for depth, key in enumerate(keys[:-1]):
        if key not in at:
            _add(document, at, keys[depth:], value)
            return
        inner = at[key]
        if not isinstance(inner, AbstractTable):
            raise ConfigError(f"{where}: `{'.'.join(keys[: depth + 1])}` is no table", "mend it by hand")
        at = inner
    at[keys[-1]] = value


def _add(document: tomlkit.TOMLDocument, at: AbstractTable | tomlkit.TOMLDocument, keys: Keys, value: Plain) -> None:
    """A key of a table that stands there already is dotted; a new table goes to the end, after a blank line."""
    if at is not document and not (isinstance(at, Table) and at.is_super_table()):
        at.append(tomlkit.key(keys), tomlkit.item(value))
        return
    table = tomlkit.table()
    table.append(keys[-1], tomlkit.item(value))
    for key in reversed(keys[1:-1]):
        outer = tomlkit.table(is_super_table=True)
        outer.append(key, table)
        table = outer
    if document.body:
        document.add(tomlkit.nl())
    at.append(keys[0], table)
