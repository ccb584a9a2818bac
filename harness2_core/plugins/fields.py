"""A settings class as data: its fields with their types, defaults and help.

Types are those that a person can write in a table and in one variable: str, int, bool, Path, a choice (`Literal`),
tuples of str or Path, mappings of str to str or Path, each of them optional (`| None`).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
import threading
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin

import attrs
from attrs import frozen

from harness2_core.model.errors import PluginError
from harness2_core.model.settings import is_content, is_place

from .masking import is_secret

AMOUNT: Final = "amount"
"""Metadata key of text fields that hold a decimal number: a plain number in the file is taken too."""

Form = Literal["text", "integer", "switch", "path", "choice", "texts", "paths", "text table", "path table"]


@frozen
class SettingField:
    """One field. `alias` is the argument's name; `choices` are set for form `choice` only."""

    name: str
    alias: str
    form: Form
    optional: bool
    required: bool
    default: object
    help: str
    secret: bool
    amount: bool
    content: bool
    place: bool
    choices: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What to give, in words."""
        if self.amount:
            return "a decimal number such as 2.5"
        return _EXPECTED[self.form] + (f" of {', '.join(repr(item) for item in self.choices)}" if self.choices else "")


_EXPECTED: Final[Mapping[Form, str]] = {
    "text": "a text",
    "integer": "an integer",
    "switch": "true or false",
    "path": "a path",
    "choice": "one",
    "texts": "a list of texts",
    "paths": "a list of paths",
    "text table": "a table of texts",
    "path table": "a table of paths",
}


def fields_of(cls: type) -> tuple[SettingField, ...]:
    """The fields of an attrs class, in order. `PluginError` for a type that no table can hold."""
    try:
        hints = typing.get_type_hints(cls)
    except Exception as error:  # annotations are any expression
        raise PluginError(
            f"the settings class {cls.__qualname__} of {cls.__module__} has an annotation that cannot be read: {error}",
            "import its types at run time, not under TYPE_CHECKING",
        ) from error
    helps = _docstrings(cls)
    return tuple(
        _field(cls, attribute, hints[attribute.name], helps.get(attribute.name, ""))
        for attribute in attrs.fields(cls)
        if attribute.init
    )


def default_in(instance: object, name: str) -> object:
    """The default of a field as `instance` would hold it, `attrs.NOTHING` when there is none."""
    cls: type[Any] = type(instance)
    return _default(attrs.fields_dict(cls)[name], instance)


def _default(attribute: attrs.Attribute[Any], instance: object | None = None) -> object:
    value: Any = attribute.default
    if hasattr(value, "takes_self"):  # attrs' type stubs make a function of the class Factory
        if value.takes_self and instance is None:
            return attrs.NOTHING
        value = value.factory(instance) if value.takes_self else value.factory()
    converter: Any = attribute.converter
    if value is not attrs.NOTHING and converter is not None and not isinstance(converter, attrs.Converter):
        value = converter(value)
    return value


def _field(cls: type, attribute: attrs.Attribute[Any], hint: object, help: str) -> SettingField:
    form, optional, choices = _form(hint)
    if form is None:
        raise PluginError(
            f"the setting {cls.__qualname__}.{attribute.name} has the type {hint}, which no table can hold",
            "use str, int, bool, Path, Literal, tuple[str, ...], Mapping[str, str] or Mapping[str, Path]",
        )
    return SettingField(
        name=attribute.name,
        alias=attribute.alias or attribute.name,
        form=form,
        optional=optional,
        required=attribute.default is attrs.NOTHING,
        default=_default(attribute),
        help=" ".join(str(attribute.metadata.get("help", "") or help).split()),
        secret=attribute.repr is False or is_secret(attribute.name),
        amount=bool(attribute.metadata.get(AMOUNT)),
        content=is_content(attribute),
        place=is_place(attribute) or (not is_content(attribute) and form in ("path", "paths", "path table")),
        choices=choices,
    )


def _form(hint: object) -> tuple[Form | None, bool, tuple[str, ...]]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        rest = [item for item in args if item is not type(None)]
        if len(rest) != 1 or len(rest) == len(args):
            return None, False, ()
        form, _, choices = _form(rest[0])
        return form, True, choices
    simple: Mapping[object, Form] = {str: "text", int: "integer", bool: "switch", Path: "path"}
    if hint in simple:
        return simple[hint], False, ()
    if origin is Literal and all(isinstance(item, str) for item in args):
        return "choice", False, args
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis and args[0] in (str, Path):
        return ("texts" if args[0] is str else "paths"), False, ()
    if isinstance(origin, type) and issubclass(origin, Mapping) and args and args[-1] in (str, Path):
        return ("text table" if args[-1] is str else "path table"), False, ()
    return None, False, ()


_PARSING: Final = threading.Lock()
"""Python 3.11 raises SystemError when two threads make syntax trees at once; `inspect` makes some too."""


@cache
def _docstrings(cls: type) -> Mapping[str, str]:
    """Texts that stand under fields; they are in the source only, so a class without source has none."""
    helps: dict[str, str] = {}
    for owner in reversed(cls.__mro__[:-1]):
        try:
            with _PARSING:
                body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            continue
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for statement, follower in itertools.pairwise(statements):
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(follower, ast.Expr)
                and isinstance(follower.value, ast.Constant)
                and isinstance(follower.value.value, str)
            ):
                helps[statement.target.id] = follower.value.value
    return helps
