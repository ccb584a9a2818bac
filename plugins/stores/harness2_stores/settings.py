"""Settings of both stores."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import field, frozen

from harness2_core.api import InvalidValue, place


def _at_least_zero(owner: object, attribute: object, value: int) -> None:
    if value < 0:
        raise InvalidValue(f"wait_seconds is {value}", "give 0 or more seconds")


@frozen
class FilesystemSettings:
    path: str = place(default="")
    """The store's directory, taken from the runs directory when relative; empty: `store` in the runs directory."""
    fsync: bool = False
    """Wait until the disk has every write: survives power loss too, at the price of some milliseconds a write."""
    network_locks: bool = False
    """Claim on a network file system all the same. You vouch that its locks work and one machine uses the store."""


@frozen
class SqliteSettings(FilesystemSettings):
    wait_seconds: int = field(default=30, validator=_at_least_zero)
    """How long to wait for another program that keeps the database locked, in seconds."""


def directory(settings: FilesystemSettings, runs: Path) -> Path:
    """Where the store is. Absolute, so that a later change of directory does not move it."""
    return (runs / os.path.expanduser(settings.path or "store")).absolute()
