"""The proposer `agent`: an installed agent plays the improver, with the session's workspace as its own.

The mission is its prompt. It finds the evidence below `context/`, and edits `context/harness/` where there is one. What
it says last is the reply, or the file `output/answer.md` where it wrote one. Nothing here knows which agent it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import evolve

from harness2_core.api import (
    ConfigError,
    Context,
    Exit,
    HarnessTree,
    Install,
    Lost,
    Said,
    SessionRequest,
    ShipsBase,
    Substrate,
    Trajectory,
    ending_of,
)

from .reply import ANSWER, last_words, written_answer
from .settings import AgentSettings

TELLS: Final = f"""
# Working here

Paths are those of the directory in which you begin. Work without asking back: nobody answers. Your last message is your
answer, and the only one that is read; an answer that is too long for a message may be written to `{ANSWER}` instead.
"""
"""What follows every mission: it says what is asked, this how an answer gets back."""

EDITOR: Final = """\
You are asked to look at files and, where the request says so, to edit some. Read what you are pointed to before you
decide. Change only what you are asked to change: everything else is evidence. Do what the request says to its end, then
answer in the form that it asks for.
"""
"""The harness of the agent itself, while it plays the improver."""

_CHUNK: Final = 1 << 20


class AgentProposer:
    def __init__(self, settings: AgentSettings | None = None) -> None:
        self._settings = settings or AgentSettings()

    @property
    def drives(self) -> str:
        return self._settings.substrate

    def unfit(self, agent: Substrate) -> str:
        return "" if editor_harness(agent) is not None else "its harness is a program, which cannot be told what to do"

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        name = self._settings.substrate or request.substrate
        agent = ctx.substrate(name)
        exit = ctx.spawn(self._install(agent, name, request, workspace, ctx), workspace, request.channel.limit_seconds)
        trajectory = _read(agent, exit)
        written = written_answer(workspace)
        text, source = written.text, ANSWER
        if not text.strip():
            text, source = last_words(trajectory), "the last message"
        try:
            ending = ending_of(agent, trajectory, exit, delivered=bool(text.strip()))
        except Lost as lost:
            raise Lost(
                lost.cause, lost.what, wait_seconds=lost.wait_seconds, usage=lost.usage or trajectory.usage
            ) from None
        used = f"the answer is that of {source}" if text.strip() else ""
        note = "; ".join(part for part in (ending.note, used, written.problem) if part)
        return Said(ending.outcome, text, trajectory.usage, note)

    def _install(self, agent: Substrate, name: str, request: SessionRequest, workspace: Path, ctx: Context) -> Install:
        tree = editor_harness(agent)
        if tree is None:
            raise ConfigError(
                f"the substrate {name} cannot run sessions: {self.unfit(agent)}",
                "name another: substrate under [proposers.agent]",
            )
        mission = request.mission.rstrip() + "\n" + TELLS
        place = ctx.place(workspace)
        return agent.install(tree, mission, request.channel, place, ctx.endpoint(request.channel))


def editor_harness(agent: Substrate) -> HarnessTree | None:
    """A harness for `agent` that makes it an editor; `None` when it has none that can be told anything."""
    surface = agent.surface
    if not surface.always_on:
        return None
    shipped = agent.base_tree().files if isinstance(agent, ShipsBase) else {}
    files = {path: shipped[path] for path in surface.required if path in shipped}
    files[surface.always_on[0]] = EDITOR
    return HarnessTree(files) if set(surface.required) <= set(files) else None


def _read(agent: Substrate, exit: Exit) -> Trajectory:
    trajectory = agent.parse(_chunks(exit.stdout), _chunks(exit.stderr), exit)
    return evolve(trajectory, usage=evolve(trajectory.usage, elapsed_ms=exit.usage.elapsed_ms))


def _chunks(path: Path) -> Iterator[bytes]:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb", buffering=0) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
