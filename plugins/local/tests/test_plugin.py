"""What the distribution registers: every factory makes what its kind asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import typer
from harness2_local import plugin

from harness2_core.api import Adapter, Judge, Preflights, Proposer, Provider, Substrate, TellsVersion

REGISTERED: Mapping[str, tuple[Callable[[], Sequence[Provider[Any]]], type]] = {
    "adapter.tasks": (plugin.harness2_adapters, Adapter),
    "substrate.python.py": (plugin.harness2_substrates, Substrate),
    "proposer.scripted": (plugin.harness2_proposers, Proposer),
    "judge.checks": (plugin.harness2_judges, Judge),
}


@pytest.mark.parametrize("entry", REGISTERED)
def test_each_entry_point_leads_to_a_provider_that_makes_its_kind(entry: str, tmp_path: Path) -> None:
    (point,) = entry_points(group="harness2.v1", name=entry)
    assert point.value == "harness2_local.plugin"
    hook, kind = REGISTERED[entry]
    (provider,) = hook()
    assert provider.name == entry.split(".")[1]
    settings = resolve_name(provider.settings)
    made = resolve_name(provider.factory)(settings(tmp_path) if entry == "adapter.tasks" else settings())
    assert isinstance(made, kind)
    assert isinstance(made, Preflights)


def test_the_substrate_tells_its_version() -> None:
    (provider,) = plugin.harness2_substrates()
    assert isinstance(resolve_name(provider.factory)(), TellsVersion)


def test_the_command_is_one_of_typers() -> None:
    (point,) = entry_points(group="harness2.v1", name="command.demo")
    (provider,) = plugin.harness2_commands()
    assert (point.value, provider.name) == ("harness2_local.plugin", "demo")
    assert isinstance(resolve_name(provider.factory)(), typer.Typer)
