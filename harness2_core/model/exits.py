"""The one table of exit codes: of every command, and of what a sweep came to."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
"""All done."""

NOT_DONE: Final = 1
"""The configuration or the command line is wrong, a key or model was refused, or there is nothing to do."""

SOME_NOT_OK: Final = 2
"""Some tasks are not ok."""

STOPPED_BY_BUDGET: Final = 3
"""A budget ended it; what was left is told."""

INTERRUPTED: Final = 130
"""SIGINT; the state is saved."""

TERMINATED: Final = 143
"""SIGTERM; the state is saved."""


def ended_by(signal: int) -> int:
    """The code of what a signal ended, as shells tell it; an interruption without one, from Python, is an interrupt."""
    return 128 + signal if signal else INTERRUPTED
