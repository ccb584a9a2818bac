"""An agent whose behaviour is a table: what it delivers, prints, costs, how long it takes, and how it fails.

Its harness is one file, `PROMPT.md`. Each line of it that is a key of the table makes the agent behave so; the last
such line wins. It is a real process; `TOY_FAILURES` has a row for each way in which agents go wrong.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

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
    Usage,
)

PROMPT: Final = "PROMPT.md"
TOY_SURFACE: Final = Surface(
    name="toy",
    always_on=(PROMPT,),
    cap_chars=2_000,
    allowed=(Allowed("script", "scripts/<script>.py"),),
    required=(PROMPT,),
)


def _texts(items: Mapping[str, str]) -> FrozenMap[str]:
    return FrozenMap(items)


@frozen
class Behaviour:
    """What the toy agent does, in this order: it waits, delivers, prints, leaves somebody behind, and ends."""

    files: FrozenMap[str] = field(converter=_texts, factory=lambda: FrozenMap({"answer.txt": "base\n"}))
    """Path below `output/` -> text."""
    says: str = "done\n"
    complains: str = ""
    """On standard error."""
    code: int = 0
    seconds: float = 0
    """Before anything is delivered."""
    usd: str = ""
    """What it says that it cost, on a line of its own; without, no model took part."""
    raw: bytes = b""
    """Printed after `says`, whatever bytes they are, with no end of line."""
    flood_mb: int = 0
    """MiB of lines on standard output."""
    leaves_seconds: int = 0
    """How long a grandchild lives, in a session of its own with the streams open: `left <process id>` is printed."""
    signal: int = 0
    """Ends itself by this signal in the place of an exit code."""
    hangs: bool = False
    """Never ends, and ignores being asked to."""


TOY_FAILURES: Final[Mapping[str, Behaviour]] = {
    "crash": Behaviour({}, "begun\n", "segmentation fault\n", signal=signal.SIGSEGV),
    "hang": Behaviour({}, "begun\n", hangs=True),
    "half a line": Behaviour({}, "begun\n", raw=b'{"type": "message", "te', signal=signal.SIGKILL),
    "0xff": Behaviour(raw=b"\xff" * 1_000 + b"\xc3"),
    "flood": Behaviour(flood_mb=200),
    "grandchild": Behaviour(leaves_seconds=600),
    "nothing": Behaviour({}, ""),
}
"""Line of `PROMPT.md` -> a way to fail; those that deliver do so before it."""

_PROGRAM: Final = r"""
import json, os, pathlib, signal, subprocess, sys, time
told = json.load(sys.stdin)
time.sleep(told["seconds"])
for path, text in told["files"].items():
    file = pathlib.Path(told["output"], path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
out, err = sys.stdout.buffer, sys.stderr.buffer
out.write(told["says"].encode()); err.write(told["complains"].encode())
if told["usd"]: out.write(("it cost %s USD\n" % told["usd"]).encode())
out.write(told["raw"].encode("latin-1"))
out.flush()
for _ in range(told["flood_mb"]):
    out.write((b"x" * 1023 + b"\n") * 1024)
if told["leaves_seconds"]:
    seconds = "import time; time.sleep(%d)" % told["leaves_seconds"]
    left = subprocess.Popen([sys.executable, "-I", "-S", "-c", seconds], start_new_session=True)
    out.write(b"left %d\n" % left.pid)
out.flush(); err.flush()
if told["hangs"]:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
    while True: time.sleep(60)
if told["signal"]: os.kill(os.getpid(), told["signal"])
os._exit(told["code"])
"""
_COST: Final = re.compile(r"^it cost ([0-9]+(?:\.[0-9]+)?) USD$", re.MULTILINE)


class ToyAgent:
    """A substrate: a line of `PROMPT.md` that is in `table` makes the agent behave so; without one, as `usual`."""

    def __init__(self, table: Mapping[str, Behaviour] | None = None, usual: Behaviour | None = None) -> None:
        self._table = dict(table or {})
        self._usual = usual or Behaviour()

    @property
    def surface(self) -> Surface:
        return TOY_SURFACE

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        lines = tree.files.get(PROMPT, "").splitlines()
        does = next((self._table[line] for line in reversed(lines) if line in self._table), self._usual)
        told = {
            "prompt": prompt,
            "output": place.output,
            "files": dict(does.files),
            "says": does.says,
            "complains": does.complains,
            "code": does.code,
            "seconds": does.seconds,
            "usd": does.usd,
            "raw": does.raw.decode("latin-1"),
            "flood_mb": does.flood_mb,
            "leaves_seconds": does.leaves_seconds,
            "signal": int(does.signal),
            "hangs": does.hangs,
        }
        return Install(
            files=FrozenMap({f"toy/{path}": text.encode() for path, text in tree.files.items()}),
            home=FrozenMap(),
            argv=(sys.executable, "-I", "-S", "-c", _PROGRAM),
            env=FrozenMap({"PYTHONDONTWRITEBYTECODE": "1"}),
            reads=(Path(sys.base_prefix), Path(sys.prefix)),
            stdin=json.dumps(told).encode(),
        )

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        events: list[Event] = [Action("toy", PROMPT)]
        usage = NO_MODEL
        for stream, error in ((stdout, False), (stderr, True)):
            text = b"".join(stream).decode(errors="replace")
            if text:
                events.append(Observation(text, error))
            if not error and (cost := _COST.search(text)):
                usage = Usage(cost[1], source="stream")
        if exit.code != 0:
            events.append(Failure("timed out" if exit.timed_out else f"exit code {exit.code}, signal {exit.signal}"))
        return Trajectory(tuple(events), evolve(usage, elapsed_ms=exit.usage.elapsed_ms))
