"""The substrate `opencode`: ties surface, install, reading and ending together. Pure but for finding the programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from harness2_agents.ending import text_of, trajectory_of
from harness2_agents.npm_agent import NpmAgent, shipped_harness
from harness2_agents.pinned import OPENCODE
from harness2_agents.prices import is_priced

from harness2_core.api import (
    Channel,
    ConfigError,
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
from .install import Programs, installed
from .reading import read
from .settings import OpencodeSettings
from .surface import ALWAYS_ON, SURFACE, silent_problems

_RIPGREP: Final = (
    "install it (Debian, Ubuntu: apt-get install ripgrep), or name it: substrates.opencode.ripgrep; without it "
    "OpenCode would fetch it, and its skills and searches fail"
)


class Opencode(NpmAgent):
    """Implements `Substrate` and all its optional protocols."""

    protocol: Final = "chat"

    def __init__(self, settings: OpencodeSettings | None = None) -> None:
        self._settings = settings or OpencodeSettings()
        super().__init__(OPENCODE, self._settings.binary)

    @property
    def surface(self) -> Surface:
        return SURFACE

    def base_tree(self) -> HarnessTree:
        return shipped_harness("harness2_opencode", ALWAYS_ON)

    def check_tree(self, tree: HarnessTree) -> Sequence[str]:
        return tuple(silent_problems(tree))

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        return installed(self._programs, tree, prompt, channel, place, endpoint, self._settings)

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        reading = read(stdout)
        events = reading.finished(well=exit.code == 0)
        failed = any(isinstance(event, Failure) for event in events)
        ending = ending_words(exit, told=failed, stderr=text_of(stderr))
        return trajectory_of(events, ending, reading.spent.usage(), reading.notes(), exit)

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        return loss_in(trajectory, exit)

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:  # noqa: ARG002 - the seam's
        return outcome_in(trajectory)

    def version(self) -> str:
        version = self._programs.opencode.version
        return f"opencode {version}" if version else ""

    def knows_price(self, channel: Channel) -> bool:
        """By the price list: OpenCode tells tokens, and an amount only of models whose price it was given."""
        return is_priced(channel.model)

    def preflight(self) -> Sequence[str]:
        found = super().preflight()
        return found if self._ripgrep is not None else (*found, f"there is no ripgrep (`rg`): {_RIPGREP}")

    @cached_property
    def _programs(self) -> Programs:
        if self._ripgrep is None:
            raise ConfigError("opencode needs ripgrep (`rg`), which is not here", _RIPGREP)
        return Programs(self._program, self._program.version or OPENCODE.version, self._ripgrep)

    @cached_property
    def _ripgrep(self) -> Path | None:
        named = self._settings.ripgrep
        found = shutil.which(os.path.expanduser(named) if named else "rg")  # noqa: PTH111 - `~nobody` is told as missing
        return None if found is None else Path(found).absolute()
