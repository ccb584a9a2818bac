"""The substrate: `sh main.sh`, and its streams read as one step after another."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from harness2_core.api import (
    NO_MODEL,
    Action,
    Allowed,
    Channel,
    Endpoint,
    Event,
    Exit,
    Failure,
    HarnessTree,
    Install,
    Observation,
    Place,
    Surface,
    Trajectory,
)

SURFACE = Surface(
    "shell",
    always_on=(),
    cap_chars=0,
    allowed=(
        Allowed("program", "main.sh", "what is run"),
        Allowed("script", "lib/<name>.sh", "sourced by main.sh"),
        Allowed("program", "data/<name>.txt", "read by the scripts"),
    ),
    required=("main.sh",),
)


@attrs.frozen
class ShellSettings:
    shell: str = attrs.field(default="/bin/sh", metadata={"help": "The shell that runs main.sh."})
    strict: bool = attrs.field(default=True, metadata={"help": "Stop at the first command that fails (-eu)."})


class ShellAgent:
    surface = SURFACE

    def __init__(self, settings: ShellSettings) -> None:
        self.settings = settings

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        flags = ("-eu",) if self.settings.strict else ()
        return Install(
            files={f"agent/{path}": text.encode() for path, text in tree.files.items()},
            home={},
            argv=(self.settings.shell, *flags, "agent/main.sh"),
            env={"OUTPUT": place.output, "LC_ALL": "C.UTF-8"},
            stdin=prompt.encode(),
        )

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        said, complained = (b"".join(stream).decode("utf-8", "replace") for stream in (stdout, stderr))
        events: list[Event] = [Action("shell", "main.sh")]
        events += [Observation(line) for line in said.split("\n") if line]
        if complained:
            events.append(Observation(complained, error=True))
        if exit.timed_out:
            events.append(Failure("out of time"))
        elif exit.code != 0:
            events.append(Failure(f"status {exit.code if exit.signal is None else -exit.signal}"))
        return Trajectory(tuple(events), NO_MODEL)

    def knows_price(self, channel: Channel) -> bool:
        return True

    def version(self) -> str:
        done = subprocess.run([self.settings.shell, "--version"], capture_output=True, text=True, check=False)
        return (done.stdout.splitlines() or [""])[0]

    def preflight(self) -> Sequence[str]:
        if shutil.which(self.settings.shell) is None or not Path(self.settings.shell).is_absolute():
            return [f"no shell at {self.settings.shell!r}: name one by its whole path in [substrates.shell]"]
        return []
