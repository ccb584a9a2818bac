"""The `python` substrate: the harness *is* the program. `scripts/solve.py` runs on the inputs; no model takes part.

The program runs in the task's workspace: inputs below `inputs/`, the task text on standard input, deliverables into
the directory that `HARNESS2_OUTPUT` names. The harness lies beside them in `harness/`. Standard output, standard error
and the exit code are the trajectory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from harness2_core.api import (
    NO_MODEL,
    Action,
    Allowed,
    Channel,
    Endpoint,
    Event,
    Exit,
    Failure,
    FrozenMap,
    HarnessTree,
    Install,
    Observation,
    Place,
    Surface,
    Trajectory,
)

from .interpreter import ENVIRONMENT, Interpreter
from .settings import PythonSettings

ROOT: Final = "harness"
"""Where the tree lies in the workspace, apart from `inputs/` and `output/`."""
PROGRAM: Final = "scripts/solve.py"

SURFACE: Final = Surface(
    name="python",
    always_on=(),
    cap_chars=0,
    allowed=(
        Allowed("program", PROGRAM, "the program that is run; it calls the other scripts", "runs every time"),
        Allowed("script", "scripts/<script>.py", "one step of the procedure, imported by name", "runs when called"),
        Allowed("program", "domain/<name>.toml", "what the program knows of the domain, as data", "read when needed"),
    ),
    required=(PROGRAM,),
)

NOTE: Final = "the harness is a program: no model took part"


class PythonSubstrate:
    def __init__(self, settings: PythonSettings | None = None) -> None:
        chosen = settings or PythonSettings()
        self._python = Interpreter(chosen.python, chosen.packages)

    @property
    def surface(self) -> Surface:
        return SURFACE

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:  # noqa: ARG002
        """`channel` and `endpoint` mean nothing to a program; its time limit is kept by who runs it."""
        return Install(
            files=FrozenMap({f"{ROOT}/{path}": text.encode() for path, text in tree.files.items()}),
            home=FrozenMap(),
            argv=self._python.argv(f"{place.workspace}/{ROOT}/{PROGRAM}"),
            env=FrozenMap({**ENVIRONMENT, "HARNESS2_OUTPUT": place.output}),
            reads=self._python.reads,
            stdin=prompt.encode(),
        )

    def knows_price(self, channel: Channel) -> bool:  # noqa: ARG002 - the seam's
        """A program costs nothing."""
        return True

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        events: list[Event] = [Action("python", f"{ROOT}/{PROGRAM}")]
        said, complained = _text(stdout), _text(stderr)
        if said:
            events.append(Observation(said))
        if complained:
            events.append(Observation(complained, error=True))
        ending = _ending(exit)
        if ending:
            events.append(Failure(ending))
        notes = (NOTE, "its output was longer than what is kept") if exit.truncated else (NOTE,)
        return Trajectory(tuple(events), evolve(NO_MODEL, elapsed_ms=exit.usage.elapsed_ms), notes)

    def version(self) -> str:
        return self._python.version

    def preflight(self) -> Sequence[str]:
        return self._python.problems()


def _text(chunks: Iterable[bytes]) -> str:
    """Decoded as a whole: a character may be cut between two chunks."""
    return b"".join(chunks).decode("utf-8", errors="replace").rstrip()


def _ending(exit: Exit) -> str:
    if exit.timed_out:
        return "the program was stopped at its time limit"
    if exit.usage.exceeded:
        return f"the program was stopped: it used more {exit.usage.exceeded} than allowed"
    if exit.signal is not None:
        return f"the program was ended by signal {exit.signal}"
    if exit.code:
        return f"the program ended with exit code {exit.code}"
    return ""
