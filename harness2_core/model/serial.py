"""JSON of values through cattrs: strict on reading, defaults left out on writing, a schema version on records.

An older record is migrated step by step; a newer one is a clear error, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, TypeVar, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from cattrs.strategies import configure_tagged_union

from .canonical import Json, canonical
from .errors import Damaged, Harness2Error, InvalidValue
from .frozen import FrozenMap
from .manifest import Entry, entry_of
from .trajectory import Event

T = TypeVar("T")

SCHEMA: Final = 1
"""Version of the records written now."""

_ENTRY: Final = {"digest", "size"}
_RESTORE: Final = "restore it from a copy, or delete it and resume"


MIGRATIONS: Final[dict[tuple[str, int], Callable[[dict[str, Json]], dict[str, Json]]]] = {}
"""(record type, version) -> the step to the next version."""


def plain(value: object) -> Json:
    """`value` as JSON data, fields at their default left out."""
    result: Json = _CONVERTER.unstructure(value)
    return result


def from_plain(data: Json, kind: type[T]) -> T:
    """The inverse of `plain`; cattrs' errors pass through."""
    return _CONVERTER.structure(data, kind)


def dump(value: object) -> bytes:
    """A record's bytes: canonical JSON with its type and schema version."""
    fields = plain(value)
    assert isinstance(fields, Mapping)
    return canonical({"type": type(value).__name__, "schema": SCHEMA, **fields})


def recordable(record: T) -> T:
    """`record`, which a plugin has had a hand in, if it can be written and read back; `InvalidValue` says why not."""
    try:
        load(dump(record), type(record))
    except Exception as error:
        why = error.what if isinstance(error, Harness2Error) else f"{type(error).__name__}: {error}"
        raise InvalidValue(f"this cannot be recorded: {why}", "mend the plugin that made it") from error
    return record


def load(data: bytes, kind: type[T], where: str = "record") -> T:
    """The record in `data`; `Damaged` says what is wrong with it and where it lies."""
    return _made(_fields(data, kind, where), kind, kind, where)


def load_field(data: bytes, kind: type[object], name: str, type_: type[T], where: str = "record") -> T:
    """One field of the record in `data`, by itself a record whose fields all have defaults, as the field has.

    The others are not looked at: of a large record that takes a tenth of the time.
    """
    return _made(_fields(data, kind, where).get(name, {}), type_, kind, where)


def _fields(data: bytes, kind: type[object], where: str) -> dict[str, Json]:
    """The fields of a record as this version has them."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not _whole(fields.get("schema")) or not isinstance(fields.get("type"), str):
        raise Damaged(f"{where}: not a record of Harness2", _RESTORE)
    name, version = fields.pop("type"), fields.pop("schema")
    if name != kind.__name__:
        raise Damaged(f"{where}: a {name} where a {kind.__name__} was expected", _RESTORE)
    if version > SCHEMA:
        raise Damaged(
            f"{where}: written by a newer Harness2 (schema {version}, this one reads up to {SCHEMA})",
            "upgrade harness2-core",
        )
    made: dict[str, Json] = fields
    try:
        for step in range(version, SCHEMA):
            migrate = MIGRATIONS.get((name, step))  # a type without one has not changed at this step
            made = migrate(made) if migrate else made
    except Exception as error:
        raise _invalid(where, kind, error) from error
    return made


def _made(data: Json, type_: type[T], record: type[object], where: str) -> T:
    try:
        return from_plain(data, type_)
    except Exception as error:
        raise _invalid(where, record, error) from error


def _invalid(where: str, kind: type[object], error: Exception) -> Damaged:
    return Damaged(f"{where}: not a valid {kind.__name__}: {_first(error)}", _RESTORE)


def _whole(version: object) -> bool:
    return type(version) is int and version >= 1


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter(omit_if_default=True, forbid_extra_keys=True)
    converter.register_unstructure_hook_factory(
        attrs.has,
        lambda cls: make_dict_unstructure_fn(cls, converter, _cattrs_omit_if_default=True),
    )
    converter.register_structure_hook_factory(
        attrs.has, lambda cls: make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True)
    )
    converter.register_unstructure_hook_func(
        lambda cls: isinstance(cls, type) and issubclass(cls, FrozenMap),
        lambda value: {key: converter.unstructure(item) for key, item in value.items()},
    )
    converter.register_unstructure_hook_func(
        _is_frozen_map,
        lambda value: {key: converter.unstructure(item) for key, item in value.items()},
    )
    converter.register_structure_hook_func(_is_frozen_map, _frozen_map_of(converter))
    converter.register_structure_hook(Entry, _entry)
    for exact in (str, int, bool):
        converter.register_structure_hook(exact, _exactly)
    converter.register_structure_hook_factory(_is_tuple_of, _tuple_of(converter))
    converter.register_unstructure_hook(tuple, lambda value: [converter.unstructure(item) for item in value])
    converter.register_unstructure_hook(Enum, lambda value: value.value)
    configure_tagged_union(Event, converter, tag_name="event")
    return converter


def _entry(data: Any, _kind: Any) -> Entry:
    """By hand: a record of a rollout holds hundreds of them, and little else."""
    if type(data) is not dict or data.keys() != _ENTRY or type(data["size"]) is not int:
        raise TypeError(f"{data!r} where a digest and a size were expected")
    return entry_of(data["digest"], data["size"])


def _frozen_map_of(converter: cattrs.Converter) -> Callable[[Any, Any], FrozenMap[Any]]:
    def structure(data: Any, kind: Any) -> FrozenMap[Any]:
        if not isinstance(data, Mapping):
            raise TypeError(f"{type(data).__name__} where a mapping was expected")
        (value,) = get_args(kind)
        return FrozenMap({_exactly(key, str): converter.structure(item, value) for key, item in data.items()})

    return structure


def _is_tuple_of(kind: Any) -> bool:
    """A tuple of any length of one type: the only kind that records hold."""
    return get_origin(kind) is tuple and get_args(kind)[1:] == (Ellipsis,)


def _tuple_of(converter: cattrs.Converter) -> Callable[[Any], Callable[[Any, Any], tuple[Any, ...]]]:
    """cattrs would take any iterable, and make five texts of the one text 'hello'."""

    def factory(kind: Any) -> Callable[[Any, Any], tuple[Any, ...]]:
        item = get_args(kind)[0]

        def structure(data: Any, _kind: Any) -> tuple[Any, ...]:
            if not isinstance(data, list):
                raise TypeError(f"{type(data).__name__} where a list was expected")
            return tuple(converter.structure(value, item) for value in data)

        return structure

    return factory


def _is_frozen_map(kind: Any) -> bool:
    return get_origin(kind) is FrozenMap


def _exactly(data: Any, kind: type[T]) -> T:
    """cattrs would turn 1 into '1'; a record that holds another type is damaged."""
    if type(data) is not kind:
        raise TypeError(f"{data!r} where {kind.__name__} was expected")
    return data


_CONVERTER: Final = _make_converter()
