"""The contract of proposers. Subclass it in your tests and give `proposer` and, where it looks at them, `tree`.

Sessions get a workspace as core lays it out. What an improver writes is its own affair; that it keeps to
`context/harness/` and answers in the formats that missions ask for is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness2_core.api import (
    Channel,
    Context,
    FrozenMap,
    Outcome,
    Proposer,
    Said,
    SessionRequest,
    choice_in,
    digest_bytes,
    lesson_in,
)

from .fake_context import FakeContext

EDITING = ("inv", "dom", "agg", "compose")
KINDS = (*EDITING, "keep", "select", "reflect")

TRANSCRIPT = "[ACTION] python\nharness/scripts/solve.py\n\n[OBSERVATION ERROR]\nerror: line 3: cannot read 'x'\n"


class ProposerContract:
    @pytest.fixture
    def proposer(self) -> Proposer:
        raise NotImplementedError("give the proposer under test")

    @pytest.fixture
    def task(self) -> str:
        return "box/one"

    @pytest.fixture
    def substrate_name(self) -> str:
        return "toy"

    @pytest.fixture
    def tree(self) -> Mapping[str, str]:
        """The harness that is edited."""
        return {"PROMPT.md": "Do as the task says.\n"}

    @pytest.fixture
    def ctx(self, tmp_path: Path) -> Context:
        return FakeContext(tmp_path / "ctx")

    def test_it_is_a_proposer(self, proposer: Proposer) -> None:
        assert isinstance(proposer, Proposer)

    @pytest.mark.parametrize("kind", KINDS)
    def test_it_answers_sessions_of_every_kind(
        self,
        kind: str,
        proposer: Proposer,
        task: str,
        substrate_name: str,
        tree: Mapping[str, str],
        ctx: Context,
        tmp_path: Path,
    ) -> None:
        said = _session(proposer, kind, task, substrate_name, _workspace(tmp_path, tree), ctx)
        assert said.outcome is Outcome.FINISHED
        assert said.text.strip()

    @pytest.mark.parametrize("kind", KINDS)
    def test_it_edits_nothing_but_the_harness(
        self,
        kind: str,
        proposer: Proposer,
        task: str,
        substrate_name: str,
        tree: Mapping[str, str],
        ctx: Context,
        tmp_path: Path,
    ) -> None:
        workspace = _workspace(tmp_path, tree)
        before = _evidence(workspace)
        _session(proposer, kind, task, substrate_name, workspace, ctx)
        after = _evidence(workspace)
        assert {path: after.get(path) for path in before} == before

    @pytest.mark.parametrize("kind", ["keep", "select"])
    def test_the_harness_stays_where_no_edit_is_asked_for(
        self,
        kind: str,
        proposer: Proposer,
        task: str,
        substrate_name: str,
        tree: Mapping[str, str],
        ctx: Context,
        tmp_path: Path,
    ) -> None:
        workspace = _workspace(tmp_path, tree)
        _session(proposer, kind, task, substrate_name, workspace, ctx)
        assert _texts(workspace / "context" / "harness") == {path: text.encode() for path, text in tree.items()}

    def test_it_chooses_one_of_the_candidates(
        self, proposer: Proposer, task: str, substrate_name: str, tree: Mapping[str, str], ctx: Context, tmp_path: Path
    ) -> None:
        said = _session(proposer, "select", task, substrate_name, _workspace(tmp_path, tree), ctx)
        assert choice_in(said.text, ("A", "B")).id in ("A", "B")

    def test_it_tells_a_lesson_or_that_there_is_none(
        self, proposer: Proposer, task: str, substrate_name: str, tree: Mapping[str, str], ctx: Context, tmp_path: Path
    ) -> None:
        said = _session(proposer, "reflect", task, substrate_name, _workspace(tmp_path, tree), ctx)
        lesson_in(said.text)

    @pytest.mark.parametrize("kind", EDITING)
    def test_a_session_with_no_more_than_task_and_harness_is_answered(
        self,
        kind: str,
        proposer: Proposer,
        task: str,
        substrate_name: str,
        tree: Mapping[str, str],
        ctx: Context,
        tmp_path: Path,
    ) -> None:
        workspace = tmp_path / "bare"
        _lay(workspace, {"task.md": "Put it into a box.\n", **{f"harness/{path}": text for path, text in tree.items()}})
        said = _session(proposer, kind, task, substrate_name, workspace, ctx)
        assert said.outcome is Outcome.FINISHED


def session_request(kind: str, task: str, substrate: str = "toy", label: str = "") -> SessionRequest:
    """A request as core would make it, of a namespace that no run has."""
    role = {"select": "selector", "reflect": "reflector"}.get(kind, "improver")
    return SessionRequest(
        bench="toy",
        task=task,
        task_digest=digest_bytes(task.encode()),
        substrate=substrate,
        role=role,
        kind=kind,
        proposer="under test",
        channel=Channel(),
        settings=FrozenMap(),
        mission=f"A mission of the kind {kind}.\n",
        evidence=digest_bytes(b"evidence"),
        editable=None if kind in ("select", "reflect") else digest_bytes(b"harness"),
        draw=f"toy-{substrate}-agg1/{task}/{label or kind + '1'}",
    )


def _session(proposer: Proposer, kind: str, task: str, substrate: str, workspace: Path, ctx: Context) -> Said:
    return proposer.run(session_request(kind, task, substrate), workspace, ctx)


def _workspace(tmp_path: Path, tree: Mapping[str, str]) -> Path:
    """A workspace with something of everything that core may lay out."""
    parts = {
        "task.md": "Put it into a box.\n",
        "source/inputs/toy.txt": "a toy\n",
        "rollouts/base1.md": TRANSCRIPT,
        "deliverables/base1/INDEX.md": "one file\n",
        "deliverables/base1/files/answer.txt.txt": "x\n",
        "decisions/inv1.md": "- added a line\n",
        "pool/inv1/rollout.md": TRANSCRIPT,
        "pool/inv1/harness.diff": "(no file differs from current)\n",
        "library/INDEX.md": "# Library\n",
        "library/harnesses/box%2Fzero/EXPERIENCE.md": "- **cue**: a toy\n- **lesson**: use a box\n",
        "candidates/A.md": "# Candidate A\n",
        "candidates/A/answer.txt": "good\n",
        "candidates/B.md": "# Candidate B\n",
        "candidates/B/answer.txt": "error: bad\n",
        "adoption.json": '{"chosen": "agg1", "ids": {"A": "agg1"}}\n',
    }
    for folder in ("harness", "base_harness", "pool/inv1/harness", "library/harnesses/box%2Fzero/harness"):
        parts |= {f"{folder}/{path}": text for path, text in tree.items()}
    workspace = tmp_path / "workspace"
    _lay(workspace, parts)
    return workspace


def _lay(workspace: Path, parts: Mapping[str, str]) -> None:
    for path, text in parts.items():
        file = workspace / "context" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _evidence(workspace: Path) -> dict[str, bytes]:
    return {path: data for path, data in _texts(workspace / "context").items() if not path.startswith("harness/")}


def _texts(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
