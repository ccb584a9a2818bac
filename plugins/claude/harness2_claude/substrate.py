"""The substrate `claude`: ties surface, install, reading and ending together. Pure but for finding the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final

from harness2_agents.ending import text_of, trajectory_of
from harness2_agents.npm_agent import NpmAgent, shipped_harness
from harness2_agents.pinned import CLAUDE

from harness2_core.api import (
    Channel,
    Ending,
    Endpoint,
    Exit,
    Failure,
    HarnessTree,
    Install,
    Lost,
    Place,
    Surface,
    Trajectory,
)

from . import tree_rules
from .ending import ending_words, loss_in, outcome_in
from .install import installed
from .reading import read
from .settings import ClaudeSettings
from .spent import knows_price
from .surface import ALWAYS_ON, SURFACE


class Claude(NpmAgent):
    """Implements `Substrate` and all its optional protocols."""

    protocol: Final = "messages"

    def __init__(self, settings: ClaudeSettings | None = None) -> None:
        self._settings = settings or ClaudeSettings()
        super().__init__(CLAUDE, self._settings.binary)

    @property
    def surface(self) -> Surface:
        return SURFACE

    def base_tree(self) -> HarnessTree:
        return shipped_harness("harness2_claude", (ALWAYS_ON,))

    def check_tree(self, tree: HarnessTree) -> Sequence[str]:
        return tree_rules.problems(tree)

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        root = os.geteuid() == 0
        return installed(self._program, tree, prompt, channel, place, endpoint, self._settings, root=root)

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        reading = read(stdout)
        events = reading.events()
        failed = any(isinstance(event, Failure) for event in events)
        ending = ending_words(exit, began=reading.began, told=failed, stderr=text_of(stderr))
        return trajectory_of(events, ending, reading.spent.usage(), reading.notes(), exit)

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        return loss_in(trajectory, exit)

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:  # noqa: ARG002 - the seam's
        return outcome_in(trajectory)

    def knows_price(self, channel: Channel) -> bool:
        """By the stream for models that Claude Code has a price for, else by the price list."""
        return knows_price(channel.model)
