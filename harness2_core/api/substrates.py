"""An agent framework, as a pure pair: what to install and run, and what its streams say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from harness2_core.model.channel import Channel, Ending
from harness2_core.model.errors import Lost
from harness2_core.model.process import Endpoint, Exit, Install, Place
from harness2_core.model.surface import Surface
from harness2_core.model.trajectory import Trajectory
from harness2_core.model.tree import HarnessTree

from .context import Context


@runtime_checkable
class Substrate(Protocol):
    """Core, or an adapter that owns its runtime, runs what `install` describes."""

    @property
    def surface(self) -> Surface: ...

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        """Pure. Files of the tree go where the agent really loads them, at the paths that the harness names."""

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        """Pure and tolerant: chunks of any size, cut anywhere, of any bytes."""


@runtime_checkable
class TellsLoss(Protocol):
    """Tells from what was seen that the provider or network failed, so that it does not count as the agent's doing."""

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        """The loss that these show, or `None` when what befell was the agent's own doing."""


@runtime_checkable
class TellsOutcome(Protocol):
    """Tells from what was seen how the agent ended, where its exit code does not say it."""

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:
        """Refused, out of steps, broken off, finished in spite of its exit code; `None`: as the exit code says.

        Not asked for losses, which `TellsLoss` tells, nor when the time limit ended it.
        """


@runtime_checkable
class TellsVersion(Protocol):
    """The agent's own version, for the record."""

    def version(self) -> str:
        """In the agent's own words, one line; empty when it does not tell."""


@runtime_checkable
class SetsUp(Protocol):
    """Brings the agent that it drives, for `harness2 setup`. `check` shows the versions side by side."""

    @property
    def tested_version(self) -> str:
        """The version it is tested with, which `set_up` brings."""

    def set_up(self, to: Path | None) -> str:
        """Brings the agent below `to`, or where it is looked for anyway; does nothing when it is there already.

        Returns what to tell the person: where it is, and how it is found there. `ConfigError` says what went wrong.
        """


@runtime_checkable
class KnowsPrice(Protocol):
    """Tells, before anything is paid, whether the cost of work on a channel will be known. Of a substrate or proposer.

    Without it the cost counts as unknown, and a limit in USD needs a limit of counts beside it.
    """

    def knows_price(self, channel: Channel) -> bool:
        """Whether `Usage.usd` of work on `channel` will be a number; asked once, before the sweep starts."""


@runtime_checkable
class ShipsBase(Protocol):
    """Of a substrate: a harness to begin with, for benchmarks that bring none."""

    def base_tree(self) -> HarnessTree:
        """Small and neutral; it fits the substrate's own surface."""


Wire: TypeAlias = Literal["chat", "responses", "messages"]
"""How a model is asked: `/chat/completions` or `/responses` below the url, or `/v1/messages`."""


@runtime_checkable
class SpeaksProtocol(Protocol):
    """Of a substrate, proposer or judge that asks the model of its channel at the channel's `url`.

    With it `check` and `run` ask the model for one token first, and tell what would have failed.
    """

    @property
    def protocol(self) -> Wire:
        """The protocol that it speaks. It also says what the `url` holds: `/v1` but for `messages`."""


@runtime_checkable
class RemoteAgent(Protocol):
    """An agent behind a service; `ctx.key` is its idempotency key."""

    @property
    def surface(self) -> Surface: ...

    def run(self, tree: HarnessTree, prompt: str, channel: Channel, workspace: Path, ctx: Context) -> Trajectory:
        """Runs to the end; deliverables are left in the workspace as a local agent would. Raises `Lost`."""
