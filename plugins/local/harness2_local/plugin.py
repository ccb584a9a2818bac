"""The hooks of this distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness2_core.api import Adapter, Judge, Proposer, Provider, Substrate, hookimpl

if TYPE_CHECKING:
    import typer


@hookimpl
def harness2_adapters() -> Sequence[Provider[Adapter]]:
    return [
        Provider(
            "tasks",
            "a folder of tasks: <domain>/<task>/instruction.md, inputs/, checks/",
            "harness2_local.tasks:TaskFolders",
            "harness2_local.settings:TasksSettings",
        )
    ]


@hookimpl
def harness2_substrates() -> Sequence[Provider[Substrate]]:
    return [
        Provider(
            "python",
            "the harness is a program: scripts/solve.py runs on the inputs; no model takes part",
            "harness2_local.python_substrate:PythonSubstrate",
            "harness2_local.settings:PythonSettings",
        )
    ]


@hookimpl
def harness2_proposers() -> Sequence[Provider[Proposer]]:
    return [
        Provider(
            "scripted",
            "plays the improver from a playbook that maps symptoms to edits; no model takes part",
            "harness2_local.scripted:ScriptedProposer",
            "harness2_local.settings:ScriptedSettings",
        )
    ]


@hookimpl
def harness2_judges() -> Sequence[Provider[Judge]]:
    return [
        Provider(
            "checks",
            "runs the check_*.py programs of a task's checks/ and reads their JSON",
            "harness2_local.checks_judge:ChecksJudge",
            "harness2_local.settings:ChecksSettings",
        )
    ]


@hookimpl
def harness2_commands() -> Sequence[Provider[typer.Typer]]:
    return [
        Provider(
            "demo",
            "improves a program on example tasks, with a script in the place of the model",
            "harness2_local.demo:command",
        )
    ]
