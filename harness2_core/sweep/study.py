"""A study: all that stays fixed while one sweep runs. Built once by `setup.py`, read by everything after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, field, frozen

from harness2_core.api.adapters import Adapter
from harness2_core.api.runtime import Store
from harness2_core.api.strategies import Reflector, Selector
from harness2_core.method.cuts import Caps
from harness2_core.model.assignment import Assignment
from harness2_core.model.bench import BenchSpec, BenchWords, TaskCard
from harness2_core.model.canonical import Digest
from harness2_core.model.channel import Channel
from harness2_core.model.frozen import FrozenMap, texts
from harness2_core.model.identity import Experiment
from harness2_core.model.manifest import Manifest
from harness2_core.model.namespace import Namespace
from harness2_core.model.plan import Plan
from harness2_core.model.requests import Request
from harness2_core.model.surface import Surface
from harness2_core.model.templates import Templates
from harness2_core.model.tree import HarnessTree

from .archive import Archive
from .slots import Limits


def _unlimited(task: str, mode: str) -> str:
    return ""


@frozen
class Role:
    """What a role is bound to: a provider, a channel, and the provider's settings as far as they affect results."""

    provider: str
    channel: Channel
    settings: FrozenMap[str] = field(converter=texts, factory=FrozenMap)


@frozen
class ModePart:
    """One mode of the study: its name, plan, and mission texts."""

    name: str
    plan: Plan
    templates: Templates


@frozen
class Study:
    """`home` is the home namespace; `modes` maps tokens to their parts, in the order they were asked for."""

    home: Namespace
    runs: Path
    adapter: Adapter
    spec: BenchSpec
    surface: Surface
    base: HarnessTree
    base_digest: Digest
    store: Store
    archive: Archive
    roles: Mapping[str, Role]
    modes: Mapping[str, ModePart]
    selector: Selector
    reflector: Reflector
    max_harnesses: int
    pool: str
    experiment: Experiment
    cards: Mapping[str, TaskCard]
    stream: Mapping[str, tuple[str, ...]]
    """Domain -> all its tasks in stream order, whichever of them this invocation works on."""
    chosen: Mapping[str, tuple[str, ...]]
    """Domain -> the tasks that this invocation works on, in stream order."""
    names: Mapping[str, str]
    """Part (`selector`, `reflector`, `engine`) -> provider name."""
    words: Callable[[str], BenchWords]
    """Task -> the words that missions use."""
    grader: Callable[[str], frozenset[Digest]]
    """Task -> digests of its grader-side files."""
    limits: Limits
    lookahead: int
    work: Assignment
    """An assignment without requests: how workers reach plugins, store and sandbox."""
    admit: Callable[[str, str], str] = field(default=_unlimited)
    """(task, mode) -> why the budgets do not let it begin; empty when they do."""
    attempts: Mapping[str, int] = field(factory=dict)
    """Task -> number of the attempt, where it is another than 1."""
    served_from: Mapping[str, int] = field(factory=dict)
    """Task -> the first attempt whose work may be served, where it is another than 1 (`--no-cache`)."""
    notes: tuple[str, ...] = ()
    """What the user should be told before the run: no sandbox, other versions than before, ..."""

    def namespace(self, mode: str) -> Namespace:
        return self.home.of_mode(mode)

    def attempt(self, task: str) -> int:
        return self.attempts.get(task, 1)

    def material(self, task: str) -> Manifest:
        """The task's text and inputs for evidence: file by file where there are more than a session is shown."""
        kept = self.archive.manifest(self.cards[task].material)
        return kept if kept.size <= Caps().input_bytes else Manifest(self.archive.flat(kept))

    def earlier(self, task: str) -> tuple[str, ...]:
        """The tasks before `task` in its domain's stream, oldest first."""
        tasks = self.stream[self.cards[task].domain]
        return tasks[: tasks.index(task)]

    def assignment(self, requests: tuple[Request, ...]) -> Assignment:
        return evolve(self.work, requests=requests)
