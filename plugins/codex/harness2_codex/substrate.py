"""The substrate `codex`: ties surface, install, reading and ending together. Pure but for finding the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from harness2_agents.ending import trajectory_of
from harness2_agents.npm_agent import NpmAgent, shipped_harness
from harness2_agents.pinned import CODEX
from harness2_agents.prices import is_priced

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

from .ending import ending_words, loss_in, outcome_in
from .install import installed
from .reading import read
from .roles import role_problems
from .settings import CodexSettings
from .surface import ALWAYS_ON, SURFACE, hook_problems


class Codex(NpmAgent):
    """Implements `Substrate` and all its optional protocols."""

    def __init__(self, settings: CodexSettings | None = None) -> None:
        self._settings = settings or CodexSettings()
        super().__init__(CODEX, self._settings.binary)

    @property
    def surface(self) -> Surface:
        off = not self._settings.sub_agents
        return SURFACE.extended(reserved_scripts=(), sub_agents=False) if off else SURFACE

    def check_tree(self, tree: HarnessTree) -> Sequence[str]:
        return (*hook_problems(tree), *role_problems(tree))

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        return installed(self._program, tree, prompt, channel, place, endpoint, self._settings)

    def base_tree(self) -> HarnessTree:
        return shipped_harness("harness2_codex", (ALWAYS_ON,))

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        found = read(stdout, stderr)
        gave_up = any(isinstance(event, Failure) for event in found.events)  # or was ended: what is said is enough
        ending = ending_words(exit, began=found.began, gave_up=gave_up, said=found.said)
        return trajectory_of(found.events, ending, found.spent.usage(), found.notes, exit)

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        """Whatever came before: an answer that the provider broke off is none, and one that came anyway counts."""
        return None if exit.code == 0 else loss_in(trajectory)

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:
        return outcome_in(trajectory, gave_up=exit.code != 0)

    def knows_price(self, channel: Channel) -> bool:
        """By the price list: Codex tells tokens, and no amount."""
        return is_priced(channel.model)

    @property
    def protocol(self) -> Literal["responses"]:
        return "responses"
