"""The `checks` judge: a task's `checks/check_*.py` programs look at what was delivered and print what they found.

    python check_<name>.py DELIVERABLES SOURCE      ->     {"items": [{"name": "...", "weight": 1, "passed": true}]}

Both arguments are folders; more are in `HARNESS2_DELIVERABLES`, `HARNESS2_SOURCE`, `HARNESS2_GRADER`,
`HARNESS2_VIEWS` and `HARNESS2_SEALED`. Each program runs on its own, under supervisor and sandbox. One that crashes,
is too slow or prints anything else is a failure to judge: missing, never zero. What delivered nothing is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve

from harness2_core.api import Context, Exit, FrozenMap, Grading, Install, Item, Verdict

from .check_report import Unreadable, verdicts_in
from .interpreter import ENVIRONMENT, Interpreter
from .settings import ChecksSettings

PATTERN: Final = "check_*.py"
_SAID: Final = 300
"""Characters of a failed program's last words that a verdict repeats."""


class ChecksJudge:
    def __init__(self, settings: ChecksSettings | None = None) -> None:
        chosen = settings or ChecksSettings()
        self._python = Interpreter(chosen.python, chosen.packages)
        self._limit_seconds = chosen.limit_seconds

    def items(self, task: str, grader: Path) -> Sequence[Item] | None:  # noqa: ARG002 - the seam's
        """`None`: a program alone knows what it looks at."""
        return None

    def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:  # noqa: ARG002
        programs = sorted(work.grader.glob(PATTERN))
        if not programs:
            yield Verdict("checks", None, f"the task has no checks/{PATTERN}")
        nothing = not any(path.is_file() for path in work.deliverables.rglob("*"))
        for program in programs:
            if ctx.cancelled():
                return
            prefix = f"{program.stem}: " if len(programs) > 1 else ""
            for verdict in self._run(program, work, ctx):
                named = evolve(verdict, item=prefix + verdict.item)
                yield evolve(named, passed=False, why="nothing was delivered") if nothing else named

    def preflight(self) -> Sequence[str]:
        return self._python.problems()

    def _run(self, program: Path, work: Grading, ctx: Context) -> Sequence[Verdict]:
        folders = {
            "HARNESS2_DELIVERABLES": work.deliverables,
            "HARNESS2_SOURCE": work.source,
            "HARNESS2_GRADER": work.grader,
            "HARNESS2_VIEWS": work.views,
            "HARNESS2_SEALED": work.sealed,
        }
        cwd = ctx.scratch / f"run-{program.stem}"
        cwd.mkdir(parents=True, exist_ok=True)
        install = Install(
            files=FrozenMap(),
            home=FrozenMap(),
            argv=self._python.argv(str(program), str(work.deliverables), str(work.source)),
            env=FrozenMap({**ENVIRONMENT, **{name: str(path) for name, path in folders.items()}}),
            reads=(*self._python.reads, *(path for path in folders.values() if path.exists())),
        )
        ended = ctx.spawn(install, cwd, self._limit_seconds)
        why = self._failure(ended)
        if not why:
            try:
                return verdicts_in(ended.stdout.read_bytes())
            except Unreadable as error:
                why = str(error)
        return (Verdict(program.stem, None, f"{program.name} {why}"),)

    def _failure(self, ended: Exit) -> str:
        if ended.timed_out:
            return f"took longer than {self._limit_seconds} s"
        if ended.signal is not None:
            return f"was ended by signal {ended.signal}"
        if ended.code:
            said = ended.stderr.read_bytes().decode("utf-8", errors="replace").strip()
            return f"ended with exit code {ended.code}: {said[-_SAID:]}"
        return "printed more than is kept" if ended.truncated else ""
