"""Settings of the sandbox. Both are about this machine: no part of any identity."""

from __future__ import annotations

from attrs import frozen

from harness2_core.api import place


def _tuple(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(items)


@frozen
class Settings:
    binary: str = place(default="bwrap")
    """The program `bwrap`: a name looked up in PATH, or a path."""
    reads: tuple[str, ...] = place(default=(), converter=_tuple)
    """More paths of this machine that every program may read, under the same path: tools outside /usr, say."""
