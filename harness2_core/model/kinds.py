"""The kinds of provider, alone in a module that imports nothing: listing what is installed must stay cheap."""

from __future__ import annotations

from typing import Final

KINDS: Final = (
    "adapter",
    "substrate",
    "proposer",
    "mode",
    "selector",
    "reflector",
    "judge",
    "store",
    "engine",
    "sandbox",
    "access",
    "command",
    "listener",
)
"""The first part of an entry point's name; each but `listener` has a registration hook."""

DEFAULTS: Final = "defaults"
"""First part of the entry of a table of defaults, which is no provider."""


def plural(kind: str) -> str:
    """As the hook and the table of settings say it: `adapters`, `sandboxes`, `access`."""
    if kind == "access":
        return kind
    return f"{kind}es" if kind.endswith(("x", "s")) else f"{kind}s"
