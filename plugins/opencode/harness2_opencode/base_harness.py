"""A harness to begin with: few words, of no task; benchmarks that bring none begin with it."""

from __future__ import annotations

from importlib.resources import files

from harness2_core.api import HarnessTree

from .surface import ALWAYS_ON


def base_harness() -> HarnessTree:
    base = files("harness2_opencode").joinpath("base")
    return HarnessTree({path: base.joinpath(path).read_text(encoding="utf-8") for path in ALWAYS_ON})
