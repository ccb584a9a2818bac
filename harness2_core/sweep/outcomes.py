"""What nodes hand to the nodes behind them, and how a body finds what its plan names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import frozen

from harness2_core.model.plan import Plan
from harness2_core.model.records import (
    BasesRecord,
    ModeRecord,
    ReflectionRecord,
    RollRecord,
    SelectionRecord,
    StageRecord,
    Summary,
    ViewRecord,
)

from .graph import Key, rolls_of


@frozen
class Opened:
    """The task may be worked on."""


@frozen
class Rolls:
    """Rolls that ran one tree."""

    rolls: tuple[RollRecord, ...]


@frozen
class Skipped:
    """Nothing could be done: the task has no usable base."""


Result: TypeAlias = (
    Opened
    | BasesRecord
    | ViewRecord
    | StageRecord
    | Rolls
    | SelectionRecord
    | ReflectionRecord
    | ModeRecord
    | Summary
    | Skipped
)
Results: TypeAlias = Mapping[Key, Result]


def bases_in(results: Results, task: str) -> BasesRecord:
    record = results[Key("bases", task)]
    assert isinstance(record, BasesRecord)
    return record


def view_in(results: Results, task: str, mode: str) -> ViewRecord:
    record = results[Key("view", task, mode)]
    assert isinstance(record, ViewRecord)
    return record


def stages_in(results: Results, task: str, mode: str, plan: Plan) -> dict[str, StageRecord]:
    """The stages done so far, in plan order."""
    found = {stage.label: results.get(Key("stage", task, mode, stage.label)) for stage in plan.stages}
    return {label: record for label, record in found.items() if isinstance(record, StageRecord)}


def rolls_in(results: Results, task: str, mode: str, plan: Plan) -> dict[str, RollRecord]:
    """Bases and the rolls done so far, by label: bases first, then in plan order."""
    known = {roll.label: roll for roll in bases_in(results, task).rolls}
    done: dict[str, RollRecord] = {}
    for source in rolls_of(plan):
        record = results.get(Key("rolls", task, mode, source))
        if isinstance(record, Rolls):
            done |= {roll.label: roll for roll in record.rolls}
    return known | {roll.label: done[roll.label] for roll in plan.rolls if roll.label in done}
