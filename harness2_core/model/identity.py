"""What makes work the same work: one table.

*request*: a change misses the cache, and the work is done anew. *experiment*: a change declines the resume, naming the
field and offering a new tag. *recorded*: a change warns and goes on, or is refused by `--strict`. Nothing else may
change a result; a field that can is added here, with a default that keeps old digests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import evolve, field, fields, frozen

from .canonical import Digest
from .channel import Channel
from .frozen import FrozenMap, frozen_map, strings, texts


@frozen
class Row:
    """One line of the table."""

    what: str
    scope: str
    where: str


TABLE: Final = (
    Row("task: prompt, inputs, domain, expectations, limits", "request", "task_digest"),
    Row("tree", "request", "tree, editable"),
    Row("evidence, library view", "request", "evidence"),
    Row("mission text", "request", "mission"),
    Row("model, effort, steps, time limit, options", "request", "channel"),
    Row("proposer or substrate and its settings", "request", "proposer, substrate, settings"),
    Row("draw", "request", "draw"),
    Row("channels", "experiment", "channels"),
    Row("plans of the modes", "experiment", "plans"),
    Row("surface", "experiment", "surface"),
    Row("selector and its settings", "experiment", "selector"),
    Row("reflector and its settings", "experiment", "reflector"),
    Row("pool", "experiment", "pool"),
    Row("base tree", "experiment", "base_tree"),
    Row("prompt templates", "experiment", "templates"),
    Row("extra plugins", "experiment", "extra"),
    Row("adapter's settings", "experiment", "adapter"),
    Row("library settings", "experiment", "library"),
    Row("stream", "experiment", "stream, tasks"),
    Row("agent CLI, plugin and core versions", "recorded", "recorded"),
    Row("sandbox, what it allows, engine, host", "recorded", "recorded"),
)


def _channels(items: Mapping[str, Channel]) -> FrozenMap[Channel]:
    return frozen_map(items)


def _stream(items: Mapping[str, tuple[str, ...]]) -> FrozenMap[tuple[str, ...]]:
    return frozen_map({domain: tuple(tasks) for domain, tasks in items.items()})


@frozen
class Experiment:
    """The experiment's identity, kept in `config.json` of the home namespace."""

    bench: str
    substrate: str
    k: int
    seed: int | None
    channels: FrozenMap[Channel] = field(converter=_channels)
    """Role -> channel."""
    providers: FrozenMap[str] = field(converter=texts)
    """Role -> provider name."""
    plans: FrozenMap[Digest] = field(converter=texts)
    """Mode token -> digest of its plan."""
    surface: Digest
    selector: str
    reflector: str
    base_tree: Digest
    templates: FrozenMap[str] = field(converter=texts)
    """Mode token -> digest of the texts its missions are made from; `*` -> of those all modes share."""
    stream: FrozenMap[tuple[str, ...]] = field(converter=_stream)
    """Domain -> its tasks in order."""
    tasks: FrozenMap[Digest] = field(converter=texts)
    """Task -> its digest."""
    adapter: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    library: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    extra: tuple[str, ...] = field(converter=strings, default=())
    pool: str = "finals"
    recorded: FrozenMap[str] = field(converter=texts, factory=FrozenMap)
    """Versions and places: compared, but no part of the identity."""


SHARED: Final = "*"
"""Stands for all modes among the templates; no mode's token."""
_GROWS: Final = frozenset({"plans", "templates", "stream", "tasks", "recorded"})
"""Fields in which an experiment may grow: modes, domains and tasks may be added."""


def differences(before: Experiment, now: Experiment) -> tuple[str, ...]:
    """Why `now` is not the experiment that `before` began, a sentence each; empty when it may go on."""
    found = []
    for part in fields(Experiment):
        if part.name in _GROWS:
            continue
        old, new = getattr(before, part.name), getattr(now, part.name)
        found += _changes(part.name, old, new)
    for mode in before.plans:
        if mode in now.plans and before.plans[mode] != now.plans[mode]:
            found.append(f"the plan of mode {mode!r} has changed")
    for mode in before.templates:
        if mode in now.templates and before.templates[mode] != now.templates[mode]:
            whose = "the texts that all modes share" if mode == SHARED else f"those of mode {mode!r}"
            found.append(f"templates: {whose} have changed")
    for task, digest in before.tasks.items():
        if task not in now.tasks:
            found.append(f"the task {task!r} has vanished")
        elif now.tasks[task] != digest:
            found.append(f"the task {task!r} has changed (its prompt, inputs, domain, expectations or limits)")
    return tuple(found)


def recorded_differences(before: Experiment, now: Experiment) -> tuple[str, ...]:
    """What has changed of the things that are only recorded; a part that takes part for the first time is no change."""
    pairs = [(name, before.recorded[name], now.recorded[name]) for name in before.recorded if name in now.recorded]
    return tuple(f"{name} was {old}, is now {new}" for name, old, new in pairs if old != new)


def joined(before: Experiment, now: Experiment) -> Experiment:
    """`before` as it goes on in `now`: what either has, as it is now. The stream is `now`'s."""
    return evolve(
        now,
        tasks={**before.tasks, **now.tasks},
        plans={**before.plans, **now.plans},
        templates={**before.templates, **now.templates},
        recorded={**before.recorded, **now.recorded},
    )


def _changes(name: str, old: object, new: object) -> list[str]:
    """What differs, mappings and channels part by part."""
    if old == new:
        return []
    if isinstance(old, FrozenMap) and isinstance(new, FrozenMap):
        keys = sorted({*old, *new})
        return [change for key in keys for change in _changes(f"{name}.{key}", old.get(key), new.get(key))]
    if isinstance(old, Channel) and isinstance(new, Channel):
        parts = [part.name for part in fields(Channel)]
        return [
            change for part in parts for change in _changes(f"{name}.{part}", getattr(old, part), getattr(new, part))
        ]
    return [f"{name} was {_shown(old)}, is now {_shown(new)}"]


def _shown(value: object) -> str:
    if value in (None, "", ()):
        return "not set"
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return text[:12] + "…" if len(text) == 64 and " " not in text else text
