"""The scripted proposer: the session contract, and the rules it plays by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from harness2_local.errors_seen import error_kinds
from harness2_local.scripted import ScriptedProposer
from harness2_local.settings import ScriptedSettings

from harness2_core.api import NO_MODEL, FrozenMap, Outcome, Proposer, choice_in, lesson_in
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.proposer_contract import KINDS, ProposerContract, session_request

PLAYBOOK = """
[[remedy]]
name = "fix-one"
kind = "inv"
symptom = "cannot read"
file = "a.txt"
old = "one\\n"
new = "uno\\n"
why = "it is so"
lesson = { cue = "a cue", lesson = "a lesson" }

[[remedy]]
name = "guess-left"
kind = "dom"
symptom = "odd sign"
group = "signs"
file = "b.txt"
text = "left\\n"

[[remedy]]
name = "guess-right"
kind = "dom"
symptom = "odd sign"
group = "signs"
file = "b.txt"
text = "right\\n"
reveals = "deeper"

[[remedy]]
name = "from-before"
kind = "dom"
symptom = "like the last"
where = ["task.md"]
file = "b.txt"
from_library = "cue: .*boxes"
"""

TREE = {"a.txt": "one\ntwo\n", "b.txt": "none\n"}
BASE = "[ACTION] python\nx\n\n[OBSERVATION ERROR]\nerror: line 3: cannot read 'x'\nerror: line 4: odd sign\n"
FINE = "[ACTION] python\nx\n\n[OBSERVATION]\nfine\n"
WORSE = BASE + "error: line 9: upside down\n"


class Session:
    def __init__(self, root: Path, proposer: ScriptedProposer) -> None:
        self._root = root
        self._proposer = proposer
        self._count = 0

    def __call__(
        self, kind: str, evidence: Mapping[str, str], label: str = "", task: str = "box/one"
    ) -> tuple[str, Mapping[str, str]]:
        """The reply, and the harness after it."""
        self._count += 1
        workspace = self._root / str(self._count)
        parts = {"task.md": "Do it.\n", **below("harness", TREE), **evidence}
        for path, text in parts.items():
            file = workspace / "context" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        request = session_request(kind, task, label=label)
        said = self._proposer.run(request, workspace, FakeContext(self._root / f"ctx{self._count}"))
        assert (said.outcome, said.usage) == (Outcome.FINISHED, NO_MODEL)
        assert "[scripted, no model]" in said.text
        harness = workspace / "context" / "harness"
        files = sorted(path for path in harness.rglob("*") if path.is_file())
        return said.text, {path.relative_to(harness).as_posix(): path.read_text("utf-8") for path in files}


def below(folder: str, tree: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in tree.items()}


def candidate(label: str, names: str, rollout: str, tree: Mapping[str, str] | None = None) -> dict[str, str]:
    notes = "".join(f"- [scripted, no model] remedy `{name}` applied to x\n" for name in names.split())
    return {
        f"decisions/{label}.md": notes,
        f"pool/{label}/rollout.md": rollout,
        **below(f"pool/{label}/harness", {**TREE, "changed.txt": label} if tree is None else tree),
    }


@pytest.fixture
def proposer(tmp_path: Path) -> ScriptedProposer:
    playbook = tmp_path / "playbook.toml"
    playbook.write_text(PLAYBOOK, encoding="utf-8")
    return ScriptedProposer(ScriptedSettings({"box": playbook}))


@pytest.fixture
def session(tmp_path: Path, proposer: ScriptedProposer) -> Session:
    return Session(tmp_path, proposer)


class TestContract(ProposerContract):
    @pytest.fixture
    def proposer(self, tmp_path: Path) -> Proposer:
        playbook = tmp_path / "playbook.toml"
        playbook.write_text(PLAYBOOK, encoding="utf-8")
        return ScriptedProposer(ScriptedSettings(FrozenMap({"box": playbook})))

    @pytest.fixture
    def tree(self) -> Mapping[str, str]:
        return TREE


class TestContractWithoutPlaybook(ProposerContract):
    @pytest.fixture
    def proposer(self) -> Proposer:
        return ScriptedProposer()


def test_each_editor_applies_the_remedies_of_its_kind(session: Session) -> None:
    inv, tree = session("inv", {"rollouts/base1.md": BASE})
    assert tree == {**TREE, "a.txt": "uno\ntwo\n"}
    assert "remedy `fix-one` applied to a.txt: it is so | rollouts/base1.md says: error: line 3: cannot read 'x'" in inv
    _, tree = session("dom", {"rollouts/base1.md": BASE})
    assert tree == {**TREE, "b.txt": "left\n"}


def test_no_symptom_no_edit(session: Session) -> None:
    text, tree = session("inv", {"rollouts/base1.md": FINE})
    assert tree == TREE
    assert "KEEP_BASE" in text.splitlines()
    assert "nothing in the playbook fits" in text


def test_a_task_without_a_playbook_is_told_so(session: Session) -> None:
    text, tree = session("inv", {"rollouts/base1.md": BASE}, task="boxes/one")
    assert tree == TREE
    assert "KEEP_BASE" in text.splitlines()


def test_every_line_of_notes_says_that_no_model_took_part(session: Session) -> None:
    text, _ = session("inv", {"rollouts/base1.md": BASE})
    notes = text.partition("<notes>\n")[2].partition("</notes>")[0]
    assert notes
    assert all("[scripted, no model]" in line for line in notes.splitlines())


def test_of_a_group_each_candidate_tries_another_one(session: Session) -> None:
    guesses = [session("dom", {"rollouts/base1.md": BASE}, f"dom{i}")[1]["b.txt"] for i in (1, 2, 3)]
    assert guesses == ["left\n", "right\n", "left\n"]


def test_a_correction_is_the_same_candidate(session: Session) -> None:
    assert session("dom", {"rollouts/base1.md": BASE}, "dom2.fix")[1]["b.txt"] == "right\n"


def test_the_library_helps_where_the_tasks_own_evidence_cannot(session: Session) -> None:
    shelf = {"library/harnesses/box%2Fzero/harness/b.txt": "known\n"}
    evidence = {"task.md": "It is like the last.\n", "rollouts/base1.md": FINE, **shelf}
    lesson = {"library/harnesses/box%2Fzero/EXPERIENCE.md": "cue: things in boxes\n"}
    assert session("dom", evidence)[1]["b.txt"] == "none\n"
    assert session("dom", {**evidence, **lesson})[1]["b.txt"] == "known\n"
    assert session("dom", {**evidence, **lesson, "task.md": "Another."})[1]["b.txt"] == "none\n"


@pytest.mark.parametrize("kind", ["agg", "compose"])
def test_composing_keeps_what_ran_without_a_new_error(session: Session, kind: str) -> None:
    evidence = {
        "rollouts/base1.md": BASE,
        **candidate("inv1", "fix-one", BASE),
        **candidate("dom1", "guess-left", WORSE),
        **candidate("dom2", "guess-right", FINE),
    }
    text, tree = session(kind, evidence)
    assert tree == {"a.txt": "uno\ntwo\n", "b.txt": "right\n"}
    assert "remedy `guess-left` dropped: dom1 showed error: line 0: upside down" in text


def test_composing_drops_what_left_no_rollout(session: Session) -> None:
    text, tree = session("agg", {"rollouts/base1.md": BASE, **candidate("inv1", "fix-one", "")})
    assert tree == TREE
    assert "no rollout at all" in text
    assert "KEEP_BASE" in text.splitlines()


def test_an_error_that_an_edit_brings_to_light_is_not_held_against_it(session: Session) -> None:
    deeper = FINE + "\n[OBSERVATION ERROR]\nerror: a deeper one\n"
    for names, kept in (("guess-right", "right\n"), ("guess-left", "none\n")):
        evidence = {"rollouts/base1.md": BASE, **candidate("dom1", names, deeper)}
        assert session("agg", evidence)[1]["b.txt"] == kept


def test_errors_of_the_checkpoint_are_known_in_later_rounds(session: Session) -> None:
    evidence = {
        "rollouts/base1.md": BASE,
        **candidate("c1", "fix-one", WORSE, TREE),  # what is edited now
        **candidate("dom2", "guess-left", WORSE),
    }
    assert session("compose", evidence)[1]["b.txt"] == "left\n"


def test_an_editor_does_not_try_again_what_hurt(session: Session) -> None:
    evidence = {"rollouts/base1.md": BASE, **candidate("inv1", "fix-one", WORSE)}
    text, tree = session("inv", evidence, "inv2")
    assert tree == TREE
    assert "remedy `fix-one` left out" in text


def test_the_blind_choice_goes_by_error_lines_then_by_content(session: Session) -> None:
    views = {
        "candidates/A.md": "# Candidate A\n",
        "candidates/A/x.txt": "error: one\nerror: two\n",
        "candidates/B.md": "# Candidate B\n",
        "candidates/B/x.txt": "an error: in the middle\nError: one\n",
    }
    assert choice_in(session("select", views)[0], "AB").id == "B"
    texts = ("same weight 1\n", "same weight 2\n")
    chosen = set()
    for first, second in (texts, texts[::-1]):
        text, _ = session("select", {"candidates/A/x.txt": first, "candidates/B/x.txt": second})
        chosen.add({"A": first, "B": second}[choice_in(text, "AB").id])
    assert len(chosen) == 1, "ids must not matter"


def test_a_lesson_is_told_of_an_edit_that_helped_and_was_adopted(session: Session) -> None:
    adopted = {**TREE, "a.txt": "uno\ntwo\n"}
    evidence = {
        "rollouts/base1.md": BASE,
        "rollouts/inv1.md": FINE,
        "decisions/inv1.md": "- [scripted, no model] remedy `fix-one` applied to a.txt\n",
        **below("pool/inv1/harness", adopted),
        **below("base_harness", TREE),
        **below("harness", adopted),
    }
    lesson = lesson_in(session("reflect", evidence)[0])
    assert lesson is not None
    assert (lesson.cue, lesson.lesson) == ("a cue", "a lesson")
    assert "[scripted, no model]" in lesson.evidence
    assert [(edit.component, edit.candidates, edit.verdict) for edit in lesson.edits] == [("a.txt", "inv1", "helped")]
    for change in ({"rollouts/inv1.md": BASE}, {"rollouts/inv1.md": WORSE}, below("harness", TREE)):
        assert lesson_in(session("reflect", {**evidence, **change})[0]) is None


def test_verdicts_on_edits_say_what_was_seen(session: Session) -> None:
    evidence = {"rollouts/base1.md": BASE, **below("base_harness", TREE)}
    for names, rollout, verdict in (
        ("fix-one", WORSE, "hurt"),
        ("fix-one guess-left", WORSE, "confounded"),
        ("fix-one", BASE, "no observed effect"),
        ("fix-one", FINE, "helped"),
    ):
        text, _ = session("reflect", {**evidence, **candidate("inv1", names, rollout)})
        assert f"verdict: {verdict}" in text


def test_null_mode_is_answered_with_keeping(session: Session) -> None:
    text, tree = session("keep", {"rollouts/base1.md": BASE})
    assert tree == TREE
    assert "KEEP_BASE" in text.splitlines()


def test_a_kind_it_does_not_know_is_told_so(session: Session) -> None:
    text, tree = session("rewrite", {"rollouts/base1.md": BASE})
    assert "'rewrite'" in text
    assert tree == TREE


@pytest.mark.parametrize("kind", KINDS)
def test_links_in_the_evidence_are_not_followed(session: Session, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(BASE + "canary-9d1f cannot read\n", encoding="utf-8")
    folder = tmp_path / "1" / "context" / "rollouts"
    folder.mkdir(parents=True)
    (folder / "base1.md").symlink_to(secret)
    text, tree = session(kind, {})
    assert "canary-9d1f" not in text
    assert tree == TREE


def test_preflight_reads_the_playbooks(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("[[remedy]]\n", encoding="utf-8")
    problems = ScriptedProposer(ScriptedSettings({"a": bad, "b": tmp_path / "absent.toml"})).preflight()
    assert len(problems) == 2
    assert ScriptedProposer().preflight() == ()


def test_the_longest_beginning_of_the_tasks_id_has_the_playbook(tmp_path: Path) -> None:
    general, special = tmp_path / "general.toml", tmp_path / "special.toml"
    general.write_text(PLAYBOOK, encoding="utf-8")
    special.write_text("", encoding="utf-8")
    session = Session(tmp_path, ScriptedProposer(ScriptedSettings({"box": general, "box/one": special})))
    assert session("inv", {"rollouts/base1.md": BASE}, task="box/one")[1] == TREE
    assert session("inv", {"rollouts/base1.md": BASE}, task="box/two")[1] != TREE


def test_error_kinds_leave_out_what_varies() -> None:
    transcript = (
        "[OBSERVATION]\nerror: this is what a program said, no error of its own\n\n"
        "[OBSERVATION ERROR]\nerror: line 12: cannot read '1,5'\nerror: line 13: cannot read '7'\n\n"
        "[Errno 2] No such file: 'x'\n"
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in run\n    boom()\nKeyError: 'Saldo'\n\n"
        "[ERROR]\nthe program ended with exit code 1\n\n[NOTE] no error: nothing\n"
    )
    assert error_kinds(transcript) == {
        "error: line 0: cannot read '…'",
        "[Errno 0] No such file: '…'",
        "KeyError: '…'",
        "the program ended with exit code 0",
    }
    assert error_kinds("") == frozenset()
