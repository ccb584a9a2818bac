"""Values as people give them: where each comes from, and what it means for a field of a settings class.

In a file a value has a TOML type, which must be the field's. In a variable or an option everything is text, which is
read as the field's type. Relative paths are taken from where they are named: the file's directory, else the working
directory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.model.errors import ConfigError
from harness2_core.model.frozen import FrozenMap

from .fields import SettingField
from .masking import masked

_INTEGER: Final = re.compile(r"[+-]?[0-9]+(_[0-9]+)*\Z")
_SWITCH: Final = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class Number(str):
    """A TOML float, kept as written: amounts are decimal texts, and floats are allowed nowhere else."""


@frozen
class Origin:
    """Who gave a value. `where` is `<file>:<line>`, `variable NAME` or `option -o key`."""

    where: str
    base: Path
    """Directory that relative paths start from."""
    is_text: bool
    """Whether the value is text to be read as the field's type."""


@frozen
class Given:
    """One value and its origin."""

    value: object
    origin: Origin


def meaning(field: SettingField, given: Mapping[tuple[str, ...], Given], label: str) -> object:
    """The field's value. `given` has the value under `()`, or a table's values under their keys; `label` names it.

    Raises `ConfigError` that names origin, what was given (unless secret) and what was expected.
    """
    if field.form in ("text table", "path table"):
        return _table(field, given, label)
    nested = next((item for keys, item in given.items() if keys), None)
    if nested is not None:
        raise _wrong(field, label, nested, "a table")
    return _single(field, given[()], label)


def _table(field: SettingField, given: Mapping[tuple[str, ...], Given], label: str) -> FrozenMap[object]:
    values: dict[str, object] = {}
    for keys, item in given.items():
        if not keys and (item.value == {} or (item.origin.is_text and item.value == "")):
            continue
        if not keys:
            raise _wrong(field, label, item, _shown(field, item.value), f"; set its parts, as `{label}.<name>`")
        if len(keys) > 1:
            raise _wrong(field, f"{label}.{'.'.join(keys)}", item, "a table inside a table")
        path = field.form == "path table"
        values[keys[0]] = _path(field, item, f"{label}.{keys[0]}") if path else _text(field, item, f"{label}.{keys[0]}")
    return FrozenMap(values)


def _single(field: SettingField, given: Given, label: str) -> object:
    if field.optional and given.origin.is_text and given.value == "":
        return None
    match field.form:
        case "integer":
            return _integer(field, given, label)
        case "switch":
            return _switch(field, given, label)
        case "path":
            return _path(field, given, label)
        case "texts":
            return tuple(_text(field, item, label) for item in _items(field, given, label))
        case "paths":
            return tuple(_path(field, item, label) for item in _items(field, given, label))
        case "choice" if given.value not in field.choices:
            raise _wrong(field, label, given, _shown(field, given.value))
        case _:
            return _text(field, given, label)


def _text(field: SettingField, given: Given, label: str) -> str:
    value = given.value
    if field.amount and isinstance(value, int | Number) and not isinstance(value, bool):
        value = str(value)
    if field.amount and isinstance(value, str):
        if value and not _is_decimal(value):
            raise _wrong(field, label, given, _shown(field, given.value))
        return str(value)
    if not isinstance(value, str) or isinstance(value, Number):
        raise _wrong(field, label, given, _shown(field, value), "; put it in quotes")
    return value


def _is_decimal(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _integer(field: SettingField, given: Given, label: str) -> int:
    value = given.value
    if given.origin.is_text and isinstance(value, str) and _INTEGER.match(value.strip()):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(field, label, given, _shown(field, value))
    return value


def _switch(field: SettingField, given: Given, label: str) -> bool:
    value = given.value
    if given.origin.is_text and isinstance(value, str) and value.strip().lower() in _SWITCH:
        return _SWITCH[value.strip().lower()]
    if not isinstance(value, bool):
        raise _wrong(field, label, given, _shown(field, value))
    return value


def _path(field: SettingField, given: Given, label: str) -> Path:
    text = _text(field, given, label)
    if "\0" in text:
        raise _wrong(field, label, given, _shown(field, text))
    path = Path(text)
    try:
        path = path.expanduser()
    except RuntimeError:  # `~nobody`: a user that does not exist
        raise _wrong(field, label, given, _shown(field, text)) from None
    return path if path.is_absolute() else given.origin.base / path


def _items(field: SettingField, given: Given, label: str) -> Sequence[Given]:
    value = given.value
    if given.origin.is_text and isinstance(value, str):
        return [Given(part.strip(), given.origin) for part in value.split(",") if part.strip()]
    if not isinstance(value, list):
        raise _wrong(field, label, given, _shown(field, value), ", as in " + '["a", "b"]')
    return [Given(item, given.origin) for item in value]


def _shown(field: SettingField, value: object) -> str:
    return masked(field.name, value, secret=field.secret)


def _wrong(field: SettingField, label: str, given: Given, shown: str, more: str = "") -> ConfigError:
    return ConfigError(f"{given.origin.where}: `{label}` is {shown}", f"give {field.expected}{more}")
