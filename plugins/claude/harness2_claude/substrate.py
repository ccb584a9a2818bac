"""The substrate `claude`: ties surface, install, reading and ending together. Pure but for finding the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from harness2_agents.ending import text_of, trajectory_of
from harness2_agents.npm import set_up, told
from harness2_agents.pinned import CLAUDE
from harness2_agents.programs import Program, find, problems

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
from .base_harness import base_harness
from .ending import ending_words, loss_in, outcome_in
from .install import installed
from .reading import read
from .settings import ClaudeSettings
from .spent import knows_price
from .surface import SURFACE


class Claude:
    """Implements `Substrate` and all its optional protocols."""

    protocol: Final = "messages"
    tested_version: Final = CLAUDE.version

    def __init__(self, settings: ClaudeSettings | None = None) -> None:
        self._settings = settings or ClaudeSettings()

    @property
    def surface(self) -> Surface:
        return SURFACE

    def base_tree(self) -> HarnessTree:
        return base_harness()

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

    def version(self) -> str:
        version = self._program.version
        return f"claude {version}" if version else ""

    def knows_price(self, channel: Channel) -> bool:
        """By the stream for models that Claude Code has a price for, else by the price list."""
        return knows_price(channel.model)

    def preflight(self) -> Sequence[str]:
        return problems(CLAUDE, self._settings.binary)

    def set_up(self, to: Path | None) -> str:
        """What to tell the person who asked for it."""
        return told(CLAUDE, set_up(CLAUDE, to), to)

    @cached_property
    def _program(self) -> Program:
        return find(CLAUDE, self._settings.binary)
