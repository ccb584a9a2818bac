"""Which provider of a kind is used when the configuration names none.

Data only: the core reads it through the entry point `defaults.bundle`, and any `harness2.toml` overrides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEFAULTS: Final[Mapping[str, str]] = {
    "adapter": "tasks",
    "substrate": "python",
    "store": "filesystem",
    "engine": "threads",
    "sandbox": "bubblewrap",
    "access": "relay",
    "selector": "blind",
    "reflector": "lesson",
    "proposer": "scripted",
    "judge": "checks",
    "mode": "parallel",
}
"""Kind of provider -> name of its default."""
