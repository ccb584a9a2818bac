"""Small validators for attrs fields, composed where values need them. Each error names the field and the way out."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Final, Protocol, TypeAlias, TypeVar

from .canonical import is_digest
from .errors import InvalidValue

T = TypeVar("T")


class Field(Protocol):
    """The part of `attrs.Attribute` that the validators use."""

    @property
    def name(self) -> str: ...


Validator: TypeAlias = Callable[[object, Field, T], None]

_DECIMAL: Final = re.compile(r"(?!-0\Z)-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?\Z")
_PLACES: Final = 40
"""Digits before or after the point of any amount; a short text such as 1e999999999 would otherwise fill the memory."""


def matches(pattern: str, expected: str) -> Validator[str]:
    """The whole text matches `pattern`; `expected` says it in words."""
    compiled = re.compile(pattern)

    def validate(owner: object, field: Field, value: str) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise _invalid(owner, field, value, expected)

    return validate


def one_of(*allowed: str) -> Validator[str]:
    def validate(owner: object, field: Field, value: str) -> None:
        if value not in allowed:
            raise _invalid(owner, field, value, "one of " + ", ".join(repr(item) for item in allowed))

    return validate


def within(minimum: int, maximum: int) -> Validator[int]:
    def validate(owner: object, field: Field, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise _invalid(owner, field, value, f"an integer from {minimum} to {maximum}")

    return validate


def at_least(minimum: int) -> Validator[int]:
    def validate(owner: object, field: Field, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            raise _invalid(owner, field, value, f"an integer of at least {minimum}")

    return validate


def between(least: int, most: int) -> Validator[int]:
    def validate(owner: object, field: Field, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _invalid(owner, field, value, f"an integer of at least {least} and at most {most}")

    return validate


def a_digest(owner: object, field: Field, value: str) -> None:
    if not isinstance(value, str) or not is_digest(value):
        raise _invalid(owner, field, value, "a SHA-256 in 64 lower-case hexadecimal digits")


def optional(validator: Validator[T]) -> Validator[T | None]:
    def validate(owner: object, field: Field, value: T | None) -> None:
        if value is not None:
            validator(owner, field, value)

    return validate


def a_decimal(owner: object, field: Field, value: str) -> None:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise _invalid(owner, field, value, "a plain decimal string such as '0.25', without exponent or trailing zeros")


def decimal_text(amount: Decimal | int | str) -> str:
    """The one decimal string of an amount: no exponent, no trailing zeros. `InvalidValue` for anything else."""
    try:
        number = Decimal(amount)
    except InvalidOperation:
        raise InvalidValue(f"{amount!r} is not a decimal number", "write it like 0.25") from None
    if not number.is_finite():
        raise InvalidValue(f"{amount!r} is not a finite number", "write it like 0.25")
    if number and abs(number.adjusted()) > _PLACES:
        raise InvalidValue(f"{str(amount)[:60]!r} is no sensible amount", f"give at most {_PLACES} digits")
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _invalid(owner: object, field: Field, value: object, expected: str) -> InvalidValue:
    return InvalidValue(f"{type(owner).__name__}.{field.name} is {value!r}", f"give {expected}")
