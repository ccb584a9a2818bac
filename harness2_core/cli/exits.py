"""Exit codes of every command."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
"""All done."""

NOT_DONE: Final = 1
"""The configuration or the command line is wrong, or there is nothing to do."""

SOME_NOT_OK: Final = 2
"""Some tasks are not ok."""

STOPPED_BY_BUDGET: Final = 3
"""A budget ended it; what was left is told."""

INTERRUPTED: Final = 130
"""SIGINT; the state is saved."""

TERMINATED: Final = 143
"""SIGTERM; the state is saved."""
