"""A harness to begin with: few words, of no task, for benchmarks that bring none."""

from __future__ import annotations

from importlib.resources import files

from harness2_core.api import HarnessTree

from .surface import ALWAYS_ON


def base_harness() -> HarnessTree:
    text = files("harness2_claude").joinpath("base", ALWAYS_ON).read_text(encoding="utf-8")
    return HarnessTree({ALWAYS_ON: text})
