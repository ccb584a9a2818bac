"""What a benchmark says of itself and of its tasks: words for missions, and facts about delivery. Never a criterion."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from attrs import field, fields, frozen

from .canonical import Digest, canonical, digest_bytes
from .channel import Outcome
from .check import Field, a_digest, at_least, one_of
from .errors import InvalidValue
from .frozen import FrozenMap, files_of, strings
from .namespace import bench_name
from .paths import has_controls
from .trajectory import OBSERVATION_CHARS, Trajectory

_BANNED: Final = re.compile(
    r"(?<![^\W\d_])(benchmark(s|ed|ing)?|evaluat(e|es|ed|ing|ion|ions|or|ors)|graders?|gradings?|rubrics?|score[sd]?|scoring)"
    r"(?![^\W\d_])",
    re.IGNORECASE,
)
"""Whole words: 'underscore' and 'scorecard' are not meant. Digits and '_' end a word: 'score_1' is one of them."""
NETWORKS: Final = r"none|model|open|hosts:[A-Za-z0-9.,:\-]+"


@frozen
class BenchWords:
    """The words a benchmark lends to missions. They describe the work, never how it is measured."""

    work: str
    domain_word: str = "domain"
    deliverable_word: str = "deliverable"
    inv_levers: str = ""
    dom_levers: str = ""
    yardstick: str = ""
    domain_guidance: str = ""
    selection_checks: str = ""
    selection_lead: str = ""
    selection_conformance: str = field(default="full", validator=one_of("full", "value_only"))

    def __attrs_post_init__(self) -> None:
        if not self.work.strip():
            raise InvalidValue("BenchWords.work is blank", "say in a sentence what work the tasks ask for")
        for part in fields(BenchWords):
            found = _BANNED.search(getattr(self, part.name))
            if found:
                raise InvalidValue(
                    f"BenchWords.{part.name} uses the word {found.group()!r}",
                    "describe the work, not how it is measured: improvers must not be told of any assessment",
                )


def _network(owner: object, field: Field, value: str) -> None:
    if not re.fullmatch(NETWORKS, value):
        raise InvalidValue(f"network is {value!r}", "give none, model, open or hosts:<name>[,<name>...]")


@frozen
class BenchSpec:
    """A benchmark's static facts."""

    name: str = field(validator=bench_name)
    words: BenchWords
    network: str = field(default="none", validator=_network)
    """The network that the task text promises: the run uses the stricter of this and the configuration."""
    batch: int = field(default=1, validator=at_least(1))
    """Draws of one tree that an adapter with its own runtime takes at once."""
    deliverables: str = field(default="contents", validator=one_of("contents", "names"))
    """Whether improvers see deliverables' contents or only their names."""
    state_deliverable: bool = False
    """A task's product may be the environment's state: then the transcript may stand in for a missing deliverable."""
    sub_agents: bool = True
    reserved_scripts: tuple[str, ...] = field(converter=strings, default=())
    observation_chars: int = field(default=OBSERVATION_CHARS, validator=at_least(10_000))
    """Characters one observation may have before it is cut; shorter cuts look like defects of the agent."""

    @reserved_scripts.validator
    def _scripts(self, _field: Field, value: tuple[str, ...]) -> None:
        for script in value:
            if not re.fullmatch(r"[A-Za-z0-9_]+\.py", script):
                raise InvalidValue(f"reserved script {script!r}", "give bare names such as 'read_doc.py'")


@frozen
class Task:
    """One task as an adapter tells it. `files` are inputs, read once by the driver's material step."""

    id: str
    domain: str
    prompt: str
    """As the agent is told, without criteria."""
    files: FrozenMap[Path] = field(converter=files_of, factory=FrozenMap)
    """Path in the workspace -> local file."""
    expects: tuple[str, ...] = field(converter=strings, default=())
    """Paths below `output/` that the task asks for; empty: anything there counts as delivered."""
    limit_seconds: int = field(default=0, validator=at_least(0))
    """Time limit of a rollout; 0 leaves it to the channel."""

    def __attrs_post_init__(self) -> None:
        if not self.id.strip() or not self.domain.strip():
            raise InvalidValue(f"task {self.id!r} in domain {self.domain!r}", "a task needs an id and a domain")
        if has_controls(self.id + self.domain):
            raise InvalidValue(
                f"task {self.id!r} in domain {self.domain!r}",
                "ids and domains are shown: no control characters in them",
            )


@frozen
class TaskCard:
    """A task in the store; the digest of its canonical JSON is the task's digest."""

    bench: str
    id: str
    domain: str
    material: Digest = field(validator=a_digest)
    """A manifest: `task.md` and `source/`."""
    expects: tuple[str, ...] = field(converter=strings, default=())
    limit_seconds: int = 0

    def encode(self) -> bytes:
        from .serial import plain  # serial needs every value type, this one too

        return canonical({"task": plain(self)})

    @property
    def digest(self) -> Digest:
        return digest_bytes(self.encode())


@frozen
class Collected:
    """What an adapter found after a rollout: local paths, captured at once by the worker."""

    delivered: bool
    deliverables: FrozenMap[Path] = field(converter=files_of, factory=FrozenMap)
    trajectory: Trajectory | None = None
    """Wins over the substrate's when given."""
    outcome: Outcome = Outcome.FINISHED
    sealed: FrozenMap[Path] = field(converter=files_of, factory=FrozenMap)
    """Grader-side files: kept apart, for judges only."""
    problems: tuple[str, ...] = field(converter=strings, default=())
    """What could not be read, in words."""
