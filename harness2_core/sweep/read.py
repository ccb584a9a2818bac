"""The reader of records: what an experiment came to, for commands and for Python. Reads, and changes nothing."""

from __future__ import annotations

import json

from attrs import frozen

from harness2_core.model.canonical import Digest
from harness2_core.model.errors import ConfigError
from harness2_core.model.nearest import near
from harness2_core.model.records import Adoption, ModeRecord, Rollout, RollRecord, StageRecord, Summary
from harness2_core.model.tree import HarnessTree, diff
from harness2_core.plugins.config import Config
from harness2_core.plugins.registry import Registry

from .closing import summary_of
from .judges import bench_of
from .judging import Row, rows_of
from .setup import study_of
from .study import Study

__all__ = ["Config", "Reading", "Registry", "Row", "Study", "read"]


def read(config: Config, registry: Registry | None = None) -> Reading:
    """Opens the experiment that `config` describes, begun or not."""
    registry = registry or Registry.installed()
    return Reading(study_of(config, registry, reading=True), config, registry)


@frozen
class Reading:
    """One experiment. Labels are looked up in `mode`, or in every mode when it is empty."""

    study: Study
    config: Config
    registry: Registry

    @property
    def namespace(self) -> str:
        return str(self.study.home)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the configuration chooses, in stream order."""
        return tuple(task for tasks in self.study.chosen.values() for task in tasks)

    def summary(self, task: str) -> Summary:
        if task not in self.study.cards:
            raise ConfigError(f"there is no task {task!r}", f"{near(task, self.study.cards)}see `harness2 show`")
        return summary_of(self.study, task)

    def summaries(self) -> tuple[Summary, ...]:
        return tuple(summary_of(self.study, task) for task in self.tasks)

    def rows(self, which: str) -> tuple[Row, ...]:
        """Rollouts and the grades they have: `finals` (picked ones), `bases` with them, or `all`."""
        return rows_of(self.study, bench_of(self.config, self.registry, self.study), which)

    def adoptions(self, mode: str, domain: str) -> tuple[Adoption, ...]:
        """A library's entries in stream order."""
        return self.study.archive.adoptions(self.study.namespace(mode), self.study.stream[domain])

    def tree(self, digest: Digest) -> HarnessTree:
        return self.study.archive.tree(digest)

    def text(self, digest: Digest) -> str:
        """A blob as text."""
        return self.study.archive.text(digest)

    def rollout(self, digest: Digest) -> Rollout:
        return self.study.archive.rollout(digest)

    def changes(self, tree: Digest, name: str) -> str:
        """A tree as unified diffs from base; empty when it is the base."""
        return diff(self.study.base, self.tree(tree), "base", name)

    def roll(self, summary: Summary, mode: str, label: str) -> RollRecord:
        rolls = [*summary.bases, *(roll for record in self.modes(summary, mode) for roll in record.rolls)]
        found = next((roll for roll in rolls if roll.label == label), None)
        if found is None:
            raise _unknown(summary, label, [roll.label for roll in rolls])
        return found

    def stage(self, summary: Summary, mode: str, label: str) -> StageRecord:
        stages = [stage for record in self.modes(summary, mode) for stage in record.stages]
        found = next((stage for stage in stages if stage.label == label), None)
        if found is None:
            raise _unknown(summary, label, [stage.label for stage in stages])
        return found

    def modes(self, summary: Summary, mode: str) -> tuple[ModeRecord, ...]:
        if mode and mode not in summary.modes:
            raise ConfigError(
                f"mode {mode!r} has no record of {summary.task}", f"known are {', '.join(summary.modes) or 'none'}"
            )
        return (summary.modes[mode],) if mode else tuple(summary.modes.values())

    def sessions_seen(self, stage: StageRecord) -> tuple[tuple[str, Digest, dict[str, int]], ...]:
        """(draw, request digest, path -> bytes of what it could read) for each session of a stage."""
        seen = []
        for digest in stage.sessions:
            request = json.loads(self.text(digest))["session"]
            files = self.study.archive.flat(self.study.archive.manifest(request["evidence"]))
            seen.append((str(request["draw"]), digest, {path: entry.size for path, entry in files.items()}))
        return tuple(seen)


def _unknown(summary: Summary, label: str, known: list[str]) -> ConfigError:
    return ConfigError(
        f"{summary.task} has no {label!r}", f"{near(label, known)}known are {', '.join(known) or 'none'}"
    )
