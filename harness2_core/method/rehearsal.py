"""Rendering every mission that a plan can ask for before anything is paid: a faulty text would cost what it is for.

With all words that a benchmark can lend and with none but the required ones, since either may be what a task has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve, fields_dict

from harness2_core.model.bench import BenchWords
from harness2_core.model.manifest import Manifest
from harness2_core.model.plan import Plan
from harness2_core.model.strategy import Ballot, Choice
from harness2_core.model.surface import Surface
from harness2_core.model.templates import FaultyTemplate, Templates

from .missions import mission, stage_correction, words_of

_LISTING: Final = ("`context/task.md`: the task as the agent was given it",)
_SPARE: Final = tuple(name for name, part in fields_dict(BenchWords).items() if part.default == "")


def rehearse(plan: Plan, words: BenchWords, surface: Surface, templates: Templates) -> None:
    """Raises `FaultyTemplate` for the first text that cannot be rendered, or that renders to nothing."""
    for name, text in _missions(plan, words, surface, templates):
        if not text.strip():
            raise FaultyTemplate(name, None, "tells nothing: its text is empty")


def _missions(plan: Plan, words: BenchWords, surface: Surface, templates: Templates) -> Iterator[tuple[str, str]]:
    bare = evolve(words, **dict.fromkeys(_SPARE, ""))
    for lent in (bare, evolve(words, **dict.fromkeys(_SPARE, "so"))):
        for stage in plan.stages:
            yield stage.template, mission(stage, _LISTING, lent, surface, templates)
        for conformance in ("full", "value_only"):
            named = words_of(evolve(lent, selection_conformance=conformance))
            yield "select", Ballot({"A": {}, "B": {}}, Manifest(), named, 1, templates).mission()
        for why in ("", "B lacks a part."):
            choice = Choice("A", why)
            told = templates.render(
                "reflect", words=words_of(lent), adopted=plan.finals[0], choice=choice, listing=_LISTING
            )
            yield "reflect", told
    for notes in ((), ("ignored a file",)):
        yield "correct", stage_correction("Mend it.", ("a file is missing",), notes, templates)
