"""The ledgers example: real programs on real files, improved by the playbook in the order of a real plan.

A `Lab` plays core's part with nothing but the API: it rolls programs, lays out evidence, runs sessions and judges.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import harness2_local
import pytest
from attrs import field, frozen
from harness2_local.checks_judge import ChecksJudge
from harness2_local.playbook import read_playbook
from harness2_local.python_substrate import SURFACE, PythonSubstrate
from harness2_local.scripted import ScriptedProposer
from harness2_local.settings import ScriptedSettings, TasksSettings
from harness2_local.tasks import TaskFolders

from harness2_core.api import (
    Accepted,
    Channel,
    Endpoint,
    FrozenMap,
    Grading,
    HarnessTree,
    accept,
    choice_in,
    lesson_in,
    render,
)
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.proposer_contract import session_request

pytestmark = pytest.mark.process

EXAMPLES = Path(harness2_local.__file__).parent / "examples"
PLAYBOOK = EXAMPLES / "tasks" / "ledgers" / "playbook.toml"
TASKS = ("card_march", "card_summer", "current_account", "giro_household", "giro_society")


@frozen
class Rolled:
    transcript: str
    deliverables: Mapping[str, str]
    score: Decimal | None


@frozen
class Stage:
    tree: HarnessTree
    notes: str
    roll: Rolled


@frozen
class Shelf:
    """A library: task -> adopted tree and experience."""

    entries: Mapping[str, tuple[HarnessTree, str]] = field(factory=dict)


class Lab:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._count = 0
        self.bench = TaskFolders(TasksSettings(EXAMPLES / "tasks", "examples"))
        base = self.bench.base_tree(SURFACE)
        assert base is not None
        self.base = base
        self._proposer = ScriptedProposer(ScriptedSettings({"ledgers": PLAYBOOK}))

    def roll(self, task: str, tree: HarnessTree) -> Rolled:
        """Runs the program on the task, reads its trajectory, and has the checks look at what it delivered."""
        workspace, context = self._folder("workspace"), FakeContext(self._folder("context"))
        told = self.bench.task(f"ledgers/{task}")
        for path, file in told.files.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, workspace / path)
        agent = PythonSubstrate()
        install = agent.install(tree, told.prompt, Channel(), context.place(workspace), Endpoint())
        ended = context.spawn(install, workspace, 60)
        trajectory = agent.parse([ended.stdout.read_bytes()], [ended.stderr.read_bytes()], ended)
        output = workspace / "output"
        output.mkdir(exist_ok=True)
        files = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in output.iterdir()}
        return Rolled(render(trajectory), files, self._score(task, output, workspace, context))

    def stage(self, task: str, label: str, kind: str, start: HarnessTree, evidence: Mapping[str, str]) -> Stage:
        text, edited = self.session(task, label, kind, start, evidence)
        taken = accept(SURFACE, {path: body.encode() for path, body in edited.items()})
        assert isinstance(taken, Accepted), taken
        return Stage(taken.tree, text, self.roll(task, taken.tree))

    def session(
        self, task: str, label: str, kind: str, start: HarnessTree, evidence: Mapping[str, str]
    ) -> tuple[str, Mapping[str, str]]:
        workspace = self._folder("session")
        parts = {"task.md": self.bench.task(f"ledgers/{task}").prompt, **evidence, **_below("harness", start)}
        for path, text in parts.items():
            file = workspace / "context" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        request = session_request(kind, f"ledgers/{task}", "py", label)
        said = self._proposer.run(request, workspace, FakeContext(self._folder("context")))
        assert "[scripted, no model]" in said.text
        harness = workspace / "context" / "harness"
        edited = {p.relative_to(harness).as_posix(): p.read_text(encoding="utf-8") for p in harness.rglob("*.*")}
        return said.text, edited

    def parallel(self, task: str, k: int, library: Shelf = Shelf()) -> tuple[Rolled, Mapping[str, Stage]]:
        """The base rollout and every stage of the plan, by label."""
        base = self.roll(task, self.base)
        seen = {**{f"rollouts/base{i}.md": base.transcript for i in range(1, k + 1)}, **_library(library)}
        pool: dict[str, Stage] = {}
        for i in range(1, k + 1):
            for kind in ("inv", "dom"):
                pool[f"{kind}{i}"] = self.stage(task, f"{kind}{i}", kind, self.base, seen)
        seen |= _pool(pool)
        finals = {f"agg{i}": self.stage(task, f"agg{i}", "agg", self.base, seen) for i in range(1, k + 1)}
        return base, {**pool, **finals}

    def sequential(self, task: str, k: int) -> tuple[Rolled, Mapping[str, Stage]]:
        base, current = self.roll(task, self.base), self.base
        pool: dict[str, Stage] = {}
        bases = {f"rollouts/base{i}.md": base.transcript for i in range(1, k + 1)}
        for t in range(1, k + 1):
            seen = {**bases, **_pool(pool)}
            pair = {f"{kind}{t}": self.stage(task, f"{kind}{t}", kind, current, seen) for kind in ("inv", "dom")}
            pool |= pair
            pool[f"c{t}"] = self.stage(task, f"c{t}", "compose", current, {**bases, **_pool(pool)})
            current = pool[f"c{t}"].tree
        return base, pool

    def reflect(self, task: str, base: Rolled, stages: Mapping[str, Stage], adopted: str) -> str:
        """The reflector's reply; as in core, every transcript lies under `rollouts/`."""
        pool = {path: text for path, text in _pool(stages).items() if not path.endswith("rollout.md")}
        seen = {
            "rollouts/base1.md": base.transcript,
            **{f"rollouts/{label}.md": stage.roll.transcript for label, stage in stages.items()},
            **pool,
            **_below("base_harness", self.base),
        }
        return self.session(task, "reflect1", "reflect", stages[adopted].tree, seen)[0]

    def _score(self, task: str, output: Path, source: Path, context: FakeContext) -> Decimal | None:
        empty, grader = self._folder("empty"), self._folder("grader")
        for path, file in self.bench.grader_side(f"ledgers/{task}").items():
            shutil.copy(file, grader / path)
        verdicts = tuple(ChecksJudge().grade(Grading(task, output, empty, empty, grader, source), (), context))
        if any(verdict.passed is None for verdict in verdicts):
            return None
        weights = [(Decimal(verdict.weight), verdict.passed) for verdict in verdicts]
        return sum(w for w, passed in weights if passed) / Decimal(sum(w for w, _ in weights))

    def _folder(self, name: str) -> Path:
        self._count += 1
        folder = self._root / f"{self._count}-{name}"
        folder.mkdir()
        return folder


def _below(folder: str, tree: HarnessTree) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in tree.files.items()}


def _pool(stages: Mapping[str, Stage]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for label, stage in stages.items():
        parts |= {f"decisions/{label}.md": stage.notes, f"pool/{label}/rollout.md": stage.roll.transcript}
        parts |= _below(f"pool/{label}/harness", stage.tree)
    return parts


def _library(shelf: Shelf) -> dict[str, str]:
    parts: dict[str, str] = {}
    for task, (tree, experience) in shelf.entries.items():
        folder = f"library/harnesses/ledgers%2F{task}"
        parts |= {f"{folder}/EXPERIENCE.md": experience, **_below(f"{folder}/harness", tree)}
    return parts


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_the_bench_finds_nothing_wrong_with_the_examples(lab: Lab) -> None:
    assert lab.bench.preflight() == ()
    assert tuple(id for id in lab.bench.tasks("all") if id.startswith("ledgers/")) == tuple(
        f"ledgers/{task}" for task in TASKS
    )


@pytest.mark.parametrize("task", TASKS)
def test_the_base_program_fails_and_its_trajectory_shows_why(lab: Lab, task: str) -> None:
    base = lab.roll(task, lab.base)
    assert base.score is not None
    assert base.score < Decimal("0.6")
    assert "[OBSERVATION ERROR]" in base.transcript


def test_a_stream_of_tasks_gets_right_with_what_it_learns(lab: Lab) -> None:
    """Parallel, k = 1, in the order of the stream: every task ends better than base, and all of them right."""
    shelf: dict[str, tuple[HarnessTree, str]] = {}
    scores: dict[str, tuple[Decimal | None, Decimal | None]] = {}
    for task in TASKS:
        base, stages = lab.parallel(task, 1, Shelf(dict(shelf)))
        scores[task] = (base.score, stages["agg1"].roll.score)
        reply = lab.reflect(task, base, stages, "agg1")
        lesson = lesson_in(reply)
        experience = f"- **cue**: {lesson.cue}\n- **lesson**: {lesson.lesson}\n" if lesson else "(no lesson)"
        shelf[task] = (stages["agg1"].tree, experience)
    assert {task: after for task, (_, after) in scores.items()} == dict.fromkeys(TASKS, Decimal(1)), scores


@pytest.mark.parametrize("task", ["card_summer", "giro_society"])
def test_without_the_library_the_tasks_own_evidence_is_not_enough(lab: Lab, task: str) -> None:
    _, stages = lab.parallel(task, 1)
    assert stages["agg1"].roll.score is not None
    assert stages["agg1"].roll.score < 1


@pytest.mark.parametrize("task", ["card_march", "current_account"])
def test_inv_and_dom_mend_different_things_and_only_both_are_enough(lab: Lab, task: str) -> None:
    base, stages = lab.parallel(task, 1)
    inv, dom, agg = (stages[label] for label in ("inv1", "dom1", "agg1"))
    assert set(_changed(lab.base, inv.tree)) == {"scripts/ledger.py"}
    assert set(_changed(lab.base, dom.tree)) == {"domain/ledgers.toml"}
    assert base.score is not None
    for one in (inv, dom):
        assert one.roll.score is not None
        assert one.roll.score < 1
    assert max(inv.roll.score or 0, dom.roll.score or 0) > base.score
    assert agg.roll.score == 1


def test_the_tempting_edit_makes_it_worse_and_is_dropped(lab: Lab) -> None:
    _, stages = lab.parallel("giro_household", 1)
    assert "try-each-date-order" in stages["inv1"].notes
    assert "comes before the line above it" in stages["inv1"].roll.transcript
    assert "remedy `try-each-date-order` dropped" in stages["agg1"].notes
    assert set(_changed(lab.base, stages["agg1"].tree)) == {"domain/ledgers.toml"}
    tempting = next(r for r in read_playbook(PLAYBOOK).remedies if r.name == "try-each-date-order")
    for task, good in (("giro_household", stages["agg1"].tree), ("card_summer", lab.base)):
        text = tempting.mended(good.files, None)
        assert text is not None
        before = lab.roll(task, good).score
        after = lab.roll(task, HarnessTree({**good.files, tempting.file: text})).score
        assert before is not None
        assert after is not None
        assert after < before, task


def test_sequential_finds_what_only_a_later_round_can_see(lab: Lab) -> None:
    """Behind the byte order mark lie the amounts: the base rollouts of a parallel run never get that far."""
    _, parallel = lab.parallel("giro_society", 2)
    _, sequential = lab.sequential("giro_society", 2)
    assert all((parallel[label].roll.score or 0) < 1 for label in ("agg1", "agg2"))
    assert sequential["c2"].roll.score == 1


@pytest.mark.parametrize("task", ["card_march", "current_account", "giro_household"])
def test_a_second_round_does_not_do_again_what_the_first_did(lab: Lab, task: str) -> None:
    _, stages = lab.sequential(task, 2)
    assert stages["c1"].roll.score == stages["c2"].roll.score == 1
    assert stages["c2"].tree == stages["c1"].tree
    assert "KEEP_BASE" in stages["c2"].notes.splitlines()


def test_a_blind_choice_takes_the_candidate_with_the_fewest_error_lines(lab: Lab) -> None:
    base, stages = lab.parallel("card_march", 1)
    candidates = {"A": base.deliverables, "B": stages["agg1"].roll.deliverables}
    evidence = {f"candidates/{id}/{name}.txt": text for id, files in candidates.items() for name, text in files.items()}
    evidence |= {f"candidates/{id}.md": f"# Candidate {id}\n" for id in candidates}
    text, edited = lab.session("card_march", "select1", "select", HarnessTree({}), evidence)
    assert choice_in(text, ("A", "B")).id == "B"
    assert edited == {}


def test_no_grader_side_text_is_in_any_evidence(lab: Lab) -> None:
    base, stages = lab.parallel("card_march", 1)
    everything = "\n".join([base.transcript, *(s.notes + s.roll.transcript for s in stages.values())])
    assert "negative_types" in lab.bench.grader_side("ledgers/card_march")["truth.toml"].read_text()
    assert "negative_types" not in everything
    assert "check_summary" not in everything


def _changed(old: HarnessTree, new: HarnessTree) -> FrozenMap[str]:
    return FrozenMap({path: text for path, text in new.files.items() if old.files.get(path) != text})
