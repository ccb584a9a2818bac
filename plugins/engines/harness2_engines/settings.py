"""Settings of the engines."""

from __future__ import annotations

from attrs import field, frozen

from harness2_core.api import InvalidValue


def _at_least_zero(owner: object, attribute: object, value: int) -> None:
    if value < 0:
        raise InvalidValue(f"workers is {value}", "give 0 (as many as there are slots) or a number of threads")


@frozen
class ThreadsSettings:
    workers: int = field(default=0, validator=_at_least_zero)
    """Most threads at once; 0 is enough for any number of slots."""
