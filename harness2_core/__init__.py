"""Harness2: improve the harness around a frozen model for the task at hand, without any grade.

Layers, each importing only those below it: `testing`, `cli`, `sweep`, `method` and `work` (side by side),
`plugins`, `api`, `model`. Plugins import `harness2_core.api` and, in their tests, `harness2_core.testing`.
"""

from typing import Final

__version__: Final = "0.1.0"

HOME: Final = "agg"
"""Mode token of the home namespace: shared bases and summaries of a task live there, whichever modes run."""
