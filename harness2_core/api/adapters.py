"""A benchmark: tasks, domains, material, base tree, and what was delivered. Four members; the rest is optional.

Optional protocols are found by isinstance: implement what the benchmark needs, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness2_core.model.bench import BenchSpec, BenchWords, Collected, Task
from harness2_core.model.canonical import Digest
from harness2_core.model.requests import RolloutRequest
from harness2_core.model.surface import Surface
from harness2_core.model.tree import HarnessTree

from .context import Context
from .substrates import Substrate


@runtime_checkable
class Adapter(Protocol):
    """The seam between a benchmark and the method. Called in the driver, and for `CollectsOutput` in the worker."""

    @property
    def spec(self) -> BenchSpec: ...

    def tasks(self, split: str) -> Sequence[str]:
        """Task ids of `split` (`all`, `train`, `test` or a name of the benchmark's own): stable and sorted."""

    def task(self, id: str) -> Task:
        """One task. Called in the driver only."""

    def base_tree(self, surface: Surface) -> HarnessTree | None:
        """The unmodified harness for a substrate with this surface; `None`: the one that the substrate ships."""


@runtime_checkable
class CollectsOutput(Protocol):
    """Finds what a rollout delivered. Without it, every file under `output/` is a deliverable."""

    def collect(self, run: Path, task: Task) -> Collected:
        """`run` is the workspace after the rollout; `task.files` is empty. Called in the worker."""


@runtime_checkable
class OwnsRuntime(Protocol):
    """Runs its own containers. Draws of one tree come together, up to `spec.batch`."""

    def run(
        self, requests: Sequence[RolloutRequest], tree: HarnessTree, agent: Substrate, ctx: Context
    ) -> Iterator[tuple[Digest, Collected]]:
        """Yields (request digest, what was found) as each draw ends; a missing one counts as lost."""

    def stop(self, key: Digest) -> None:
        """Ends what is no child process of ours: containers of this request; also called for leftovers at start."""


@runtime_checkable
class RendersViews(Protocol):
    """Renders deliverables as text and images. Without it: UTF-8 as it is, else one line with type, size, digest."""

    def views(self, deliverables: Mapping[str, Path], ctx: Context) -> Mapping[str, Path]:
        """View name -> local file. `<name>.txt` is the text of deliverable `<name>`."""


@runtime_checkable
class HoldsGrader(Protocol):
    """Names the grader-side files of a task; core keeps them out of every workspace, evidence and ballot."""

    def grader_side(self, task: str) -> Mapping[str, Path]:
        """Relative path -> local file. Read once by the driver, into the store, for judges only."""


@runtime_checkable
class HasWords(Protocol):
    """Words for missions of one task, where `spec.words` does not fit all."""

    def words(self, task: str) -> BenchWords:
        """Used in place of `spec.words` for this task."""


@runtime_checkable
class OrdersDomains(Protocol):
    """A frozen domain order for streams without a seed; without it: descending task count, then name."""

    def domain_order(self) -> Sequence[str]:
        """Every domain of the benchmark, in the order in which streams without a seed take them."""


@runtime_checkable
class ShipsStarter(Protocol):
    """Of an adapter's factory: a small benchmark that `harness2 init <adapter> DIR` lays out to start from."""

    def starter(self) -> Mapping[str, str]:
        """Relative path -> text; `harness2.toml` is among them. Asked of the factory itself, without settings."""


@runtime_checkable
class ChecksTree(Protocol):
    """Invariants of a benchmark or substrate beyond the surface. Of an adapter or a substrate."""

    def check_tree(self, tree: HarnessTree) -> Sequence[str]:
        """All problems, in words an improver can act on; empty when there are none."""


@runtime_checkable
class Preflights(Protocol):
    """Of any provider that takes part in a run."""

    def preflight(self) -> Sequence[str]:
        """What would fail later, each with its remedy, before anything is paid."""
