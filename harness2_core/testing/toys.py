"""A toy world, any size, the same each time: a bench, an agent that behaves by a table, an improver, a one-step mode.

The agent is in `toy_agent.py`: lines of its one file, `PROMPT.md`, say how it behaves, and improvers add lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from harness2_core.api import (
    NO_MODEL,
    BenchSpec,
    BenchWords,
    ConfigError,
    Context,
    HarnessTree,
    Mode,
    Outcome,
    Plan,
    Roll,
    Said,
    SessionRequest,
    Stage,
    Surface,
    Task,
)

from .toy_agent import PROMPT


class ToyBench:
    """`domains` domains of `tasks` tasks each. With `root`, each task brings an input and a grader-side file."""

    def __init__(self, root: Path | None = None, domains: int = 1, tasks: int = 2, name: str = "toy") -> None:
        self._root = root
        self._ids = tuple(f"d{d:02d}/t{t:04d}" for d in range(1, domains + 1) for t in range(1, tasks + 1))
        self.spec = BenchSpec(name, BenchWords("Toys are put into boxes."))

    def tasks(self, split: str) -> Sequence[str]:
        if split != "all":
            raise ConfigError(f"the toy bench has no split {split!r}", "ask for all")
        return self._ids

    def task(self, id: str) -> Task:
        self._known(id)
        domain = id.split("/")[0]
        files = {"inputs/toy.txt": self._file(id, "inputs/toy.txt", f"toy of {id}\n")} if self._root else {}
        return Task(id, domain, f"Put the toy of {id} into output/answer.txt.\n", files, ("answer.txt",))

    def base_tree(self, surface: Surface) -> HarnessTree:
        return HarnessTree({PROMPT: "Do as the task says.\n"})

    def grader_side(self, task: str) -> Mapping[str, Path]:
        self._known(task)
        return {"answer.txt": self._file(task, "checks/answer.txt", "good\n")} if self._root else {}

    def _known(self, id: str) -> None:
        if id not in self._ids:
            raise ConfigError(f"the toy bench has no task {id!r}", f"known are {self._ids[0]} and so on")

    def _file(self, id: str, path: str, text: str) -> Path:
        assert self._root is not None
        file = self._root / id / path
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return file


@frozen
class ToyAnswer:
    """`adds` are lines put at the end of the edited `PROMPT.md`."""

    text: str
    adds: tuple[str, ...] = ()
    outcome: Outcome = Outcome.FINISHED


TOY_ANSWERS: Final[Mapping[str, ToyAnswer]] = {
    "inv": ToyAnswer("<notes>added a line on procedure</notes>", ("inv",)),
    "dom": ToyAnswer("<notes>added a line on toys</notes>", ("dom",)),
    "agg": ToyAnswer("<notes>kept both lines</notes>", ("inv", "dom")),
    "compose": ToyAnswer("<notes>kept both lines</notes>", ("inv", "dom")),
    "keep": ToyAnswer("KEEP_BASE"),
    "select": ToyAnswer("<why>the first will do</why>\n\n```choice\n{first}\n```"),
    "reflect": ToyAnswer("<experience>\ncue: a toy\nlesson: put it into a box\nevidence: agg1 did\n</experience>"),
}
"""Kind of session -> answer; `{first}` becomes the first candidate's id."""


class ToyProposer:
    """Answers by kind, without a model. `asked` lists the kinds, in order, of this object's sessions."""

    def __init__(self, answers: Mapping[str, ToyAnswer] | None = None) -> None:
        self._answers = {**TOY_ANSWERS, **(answers or {})}
        self.asked: list[str] = []

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        self.asked.append(request.kind)
        answer = self._answers.get(request.kind, ToyAnswer("KEEP_BASE"))
        if answer.adds:
            prompt = workspace / "context" / "harness" / PROMPT
            lines = [*prompt.read_text(encoding="utf-8").splitlines(), *answer.adds]
            prompt.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
        candidates = sorted(path.stem for path in (workspace / "context" / "candidates").glob("*.md"))
        return Said(answer.outcome, answer.text.replace("{first}", candidates[0] if candidates else "A"), NO_MODEL)


class _OneStep:
    def plan(self, k: int) -> Plan:
        bases = tuple(f"base{index}" for index in range(1, k + 1))
        steps = (Stage("inv1", "inv", "base", bases), Roll("inv1", "inv1"))
        return Plan(steps, ("inv1",), rollouts=k + 1, sessions=1)


def one_step_mode() -> Mode:
    """k bases, one edit, one roll of it: the smallest mode that improves anything."""
    return _OneStep()
