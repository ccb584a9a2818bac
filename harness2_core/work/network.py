"""Which network a process gets: the stricter of what the task's text promises and what the configuration allows."""

from __future__ import annotations

from typing import Final

_ORDER: Final = ("none", "model", "hosts", "open")
_HOSTS: Final = "hosts:"


def stricter(promised: str, allowed: str) -> str:
    """Of two of `none`, `model`, `hosts:<name>,...`, `open`; two lists of hosts leave what is in both, or `model`."""
    if promised.startswith(_HOSTS) and allowed.startswith(_HOSTS):
        both = sorted(set(_names(promised)) & set(_names(allowed)))
        return _HOSTS + ",".join(both) if both else "model"
    return min(promised, allowed, key=lambda policy: _ORDER.index(policy.partition(":")[0]))


def with_model(promised: str) -> str:
    """A task that promises no network speaks of its own world: the agent in it still reaches its model."""
    return "model" if promised == "none" else promised


def _names(policy: str) -> list[str]:
    return policy.removeprefix(_HOSTS).split(",")
