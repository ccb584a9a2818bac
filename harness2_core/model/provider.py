"""Providers: what a plugin's registration hook returns."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from attrs import field, frozen

from .check import matches
from .kinds import KINDS as KINDS

T = TypeVar("T")

_REFERENCE: Final = matches(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", "a reference 'package.module:name'")


@frozen
class Provider(Generic[T]):
    """One pluggable thing.

    The entry point is `<kind>.<name>[.<token>] = package.module`; that module's hook returns these. `factory` is a
    reference `package.module:callable`, imported at first use and called with an instance of the `settings` class
    (`package.module:AttrsClass`), or without arguments when there is none.
    """

    name: str = field(validator=matches(r"[a-z][a-z0-9_\-]*", "a lower-case name"))
    summary: str
    factory: str = field(validator=_REFERENCE)
    settings: str = field(
        default="", validator=lambda owner, field, value: _REFERENCE(owner, field, value) if value else None
    )
