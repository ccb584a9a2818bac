"""Core's own providers, found and loaded as a plugin's are. A kind that has one defaults to it."""

from __future__ import annotations

from typing import Final

from harness2_core import __version__

from .discovery import Found

BUILT_IN: Final = (Found("access", "plain", "", "harness2_core.work.access", "harness2-core", __version__),)
