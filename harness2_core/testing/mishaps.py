"""An improver that meets everything a run has to survive, and the same of it in every run: what resumes are tried with.

What befalls a session goes by its draw and by how often it was asked: rate limits, lost connections, refusals, sessions
that are lost for good, trees that have to be corrected or cannot be accepted at all, votes that cannot be used. Runs
that are killed on the way meet the same, so that their records can be compared with those of an undisturbed one.

The harness is one program, `scripts/solve.py`, whose first line is `BY = "..."`: each edit puts its own name there.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Final

from harness2_core.api import NO_MODEL, Context, Lost, Outcome, Reply, Said, SessionRequest, Store
from harness2_core.model.serial import load
from harness2_core.work.attempts import attempts_of
from harness2_core.work.trees import read_blob

RATE_LIMITS: Final = "rate limits"
CORRECTED: Final = "edits accepted by their correction"
FALLEN: Final = "edits refused twice"
VOTES: Final = "votes asked for again"
LOST: Final = "sessions lost for good"
EVERYTHING: Final = frozenset({RATE_LIMITS, CORRECTED, FALLEN, VOTES, LOST})
"""What `met` is to find after a run over some tasks in two modes."""

_PROGRAM: Final = "context/harness/scripts/solve.py"


class Mishaps:
    """A proposer for all roles of the improver's side. It counts its tries in a directory beside the runs'."""

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        lot, tried = _lot(request.draw), _tried(ctx)
        if lot % 5 == 0 and tried <= 2:
            raise Lost("rate-limit", "too many requests", wait_seconds=20)
        if lot % 7 == 1 and tried == 1:
            raise Lost("network", "the connection was lost")
        if lot % 9 == 2 and request.kind in ("inv", "dom"):
            raise Lost("provider", "overloaded")  # for good
        if lot % 6 == 3 and tried == 1:
            return Said(Outcome.REFUSED, "I will not.", NO_MODEL)
        return Said(Outcome.FINISHED, _answer(request, workspace, lot), NO_MODEL)


def met(store: Store) -> Counter[str]:
    """How often what has happened on the way of the runs in this store."""
    found: Counter[str] = Counter()
    for digest, _ in store.scan("session"):
        asked = json.loads(read_blob(store, digest))["session"]
        data = store.get("session", digest)
        assert data is not None
        reply = load(data, Reply, digest)
        found[LOST] += reply.outcome is Outcome.LOST
        if asked["draw"].endswith(".fix"):
            edited = FALLEN if reply.accepted is None else CORRECTED
            found[VOTES if asked["kind"] == "select" else edited] += 1
    for digest in {key.partition("/")[0] for key, _ in store.scan("attempt")}:
        ends = [attempt.ended for attempt in attempts_of(store, digest)]
        found[RATE_LIMITS] += sum(end is not None and end.cause == "rate-limit" for end in ends)
    return +found


def tries(runs: Path) -> Path:
    """Where the tries over a runs directory are counted: to be removed together with it."""
    return runs.with_name(f"{runs.name}.tries")


def _answer(request: SessionRequest, workspace: Path, lot: int) -> str:
    fixing = request.draw.endswith(".fix")
    if request.kind == "select":
        if lot % 2 and not fixing:
            return "I like all of them."  # no choice
        ids = sorted(path.stem for path in (workspace / "context/candidates").glob("*.md"))
        return f"<why>by lot</why>\n\n```choice\n{ids[lot % len(ids)]}\n```"
    if request.kind == "reflect":
        return f"<experience>\ncue: {lot % 97}\nlesson: add up\nevidence: seen\n</experience>"
    program, stray = workspace / _PROGRAM, workspace / "context/harness/notes.txt"
    if fixing and lot % 3:
        stray.unlink()
    elif not fixing and lot % 3 == 0:
        stray.write_text("off the surface", encoding="utf-8")
    _, _, rest = program.read_text(encoding="utf-8").partition("\n")
    program.write_text(f'BY = "{request.draw.rpartition("/")[2]} {lot % 1000}"\n{rest}', encoding="utf-8")
    return f"<notes>number {lot % 1000}</notes>"


def _lot(draw: str) -> int:
    return int(hashlib.sha256(draw.encode()).hexdigest()[:8], 16)


def _tried(ctx: Context) -> int:
    """How often this request was tried with this try, whoever was killed meanwhile."""
    directory = tries(ctx.scratch.parents[2])
    directory.mkdir(exist_ok=True)
    count = 1 + sum(1 for _ in directory.glob(f"{ctx.key}.*"))
    (directory / f"{ctx.key}.{count}").touch()
    return count
