"""Errors that a person can act on: what was wrong, and the way out.

Everything Harness2 raises on purpose derives from `Harness2Error`; the command line prints it without a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .channel import Usage


class Harness2Error(Exception):
    """`what` names the value, file, option or plugin; `remedy` says what to do about it."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}\n  {self.remedy}" if self.remedy else self.what


class InvalidValue(Harness2Error, ValueError):
    """A value breaks the rule of its type."""


class ConfigError(Harness2Error):
    """The configuration, an option or the request of a person cannot be honoured. Exit code 1."""


class PluginError(Harness2Error):
    """A plugin is missing, ambiguous, of another version, or broken."""


class StoreError(Harness2Error):
    """The store cannot be read or written; what was in it before is still there."""


class Damaged(StoreError):
    """Bytes in the store differ from their digest, or a record cannot be read."""


CAUSES: Final = ("provider", "rate-limit", "budget", "access", "network", "sandbox", "disk", "worker")
"""Kinds of loss. `rate-limit` asks to wait; `budget` is money or quota that waiting does not bring back; `access` is a
key, model or setting that the provider does not accept, which only a person mends."""


class Lost(Harness2Error):
    """An attempt came to nothing through no fault of the agent or improver: repeated by the policy table.

    `cause` is one of `CAUSES`; `wait_seconds` is what the other side asked for, 0 when it asked for nothing; `usage`
    is what was paid all the same.
    """

    def __init__(self, cause: str, what: str, *, wait_seconds: int = 0, usage: Usage | None = None) -> None:
        if cause not in CAUSES:
            raise InvalidValue(f"{cause!r} is no cause of a loss", f"give one of {', '.join(CAUSES)}")
        super().__init__(what)
        self.cause = cause
        self.wait_seconds = wait_seconds
        self.usage = usage

    def __reduce__(self) -> tuple[object, ...]:
        """Exceptions pickle by their positional arguments alone; this one crosses processes whole."""
        return _lost, (self.cause, self.what, self.wait_seconds, self.usage)


def _lost(cause: str, what: str, wait_seconds: int, usage: Usage | None) -> Lost:
    return Lost(cause, what, wait_seconds=wait_seconds, usage=usage)
