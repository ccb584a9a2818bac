"""The contracts of adapters, substrates, proposers and judges turn red where a plugin breaks them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Channel,
    Context,
    Endpoint,
    Exit,
    Grading,
    HarnessTree,
    Install,
    Item,
    Observation,
    Outcome,
    Place,
    Said,
    SessionRequest,
    Surface,
    Task,
    Trajectory,
    Verdict,
)
from harness2_core.testing import judge_contract, proposer_contract, substrate_contract
from harness2_core.testing.adapter_contract import AdapterContract
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.toy_agent import TOY_SURFACE, Behaviour, ToyAgent
from harness2_core.testing.toys import ToyBench

TREE = HarnessTree({"PROMPT.md": "Do as the task says.\n"})


def red(test: Callable[[], object]) -> None:
    """`test` must fail; pytest's own failure is no `AssertionError`."""
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test()


class Unsorted(ToyBench):
    def tasks(self, split: str) -> Sequence[str]:
        return tuple(reversed(super().tasks(split)))


class Forgetful(ToyBench):
    told = 0

    def task(self, id: str) -> Task:
        self.told += 1
        return evolve(super().task(id), prompt=f"Told {self.told} times.")


class Leaky(ToyBench):
    """Hands out the grader's file by a hard link, under a harmless name."""

    def task(self, id: str) -> Task:
        task = super().task(id)
        hidden = self.grader_side(id)["answer.txt"]
        linked = hidden.parent.parent / "inputs" / "notes.txt"
        if not linked.exists():
            os.link(hidden, linked)
        return evolve(task, files={**task.files, "inputs/notes.txt": linked})


class Gullible(ToyBench):
    def task(self, id: str) -> Task:
        return Task(id or "x", "d01", "Do anything.")


class OffSurface(ToyBench):
    def base_tree(self, surface: Surface) -> HarnessTree:
        return HarnessTree({"elsewhere.md": "x"})


def test_adapters_that_break_the_contract_are_caught(tmp_path: Path) -> None:
    contract = AdapterContract()
    red(lambda: contract.test_task_ids_are_stable_sorted_and_unique(Unsorted(tmp_path)))
    red(lambda: contract.test_a_task_is_told_the_same_way_each_time(Forgetful(tmp_path)))
    red(lambda: contract.test_grader_side_files_are_no_inputs_even_by_link(Leaky(tmp_path)))
    red(lambda: contract.test_ids_that_name_no_task_are_refused(Gullible(tmp_path), "../.."))
    red(lambda: contract.test_the_base_tree_passes_the_surface(OffSurface(tmp_path), TOY_SURFACE))


class Chatty(ToyAgent):
    """Everything at once: the host's variables, the key on the command line, files left out, another each time."""

    installs = 0

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        self.installs += 1
        install = super().install(tree, prompt, channel, place, endpoint)
        argv = (*install.argv, endpoint.key, str(self.installs))
        return evolve(install, files={}, env=dict(os.environ), argv=argv, stdin=b"")


class Brittle(ToyAgent):
    """Decodes chunk by chunk, strictly, and says nothing of how it ended."""

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        return Trajectory(tuple(Observation(chunk.decode()) for chunk in stdout))


def test_substrates_that_break_the_contract_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    contract = substrate_contract.SubstrateContract()
    red(lambda: contract.test_install_is_pure(Chatty(), TREE))
    red(lambda: contract.test_install_carries_every_file_of_the_tree(Chatty(), TREE))
    red(lambda: contract.test_install_carries_the_prompt(Chatty(), TREE))
    red(lambda: contract.test_install_brings_nothing_of_the_host(Chatty(), TREE, monkeypatch))
    red(lambda: contract.test_the_key_is_not_on_the_command_line(Chatty(), TREE))
    failed = Exit(1, None, False, False, Path("stdout"), Path("stderr"))
    red(lambda: contract.test_an_ending_that_is_not_good_can_be_seen(Brittle(), failed))


class Failing(ToyAgent):
    """Its agent ends badly whatever it is given."""

    def __init__(self) -> None:
        super().__init__(usual=Behaviour(code=1))


class Abandoning(ToyAgent):
    """Its agent leaves a process behind."""

    def __init__(self) -> None:
        super().__init__(usual=Behaviour(leaves_seconds=60))


@pytest.mark.process
@pytest.mark.parametrize("agent", [Failing(), Abandoning()], ids=["failing", "abandoning"])
def test_an_agent_that_does_not_come_to_a_clean_end_is_caught(
    agent: ToyAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness2_core.testing.family._PATIENCE_SECONDS", 0.3)
    rule = substrate_contract.SubstrateContract().test_what_it_installs_runs_and_what_that_prints_is_read
    red(lambda: rule(agent, TREE, tmp_path, monkeypatch))


@pytest.mark.parametrize("rule", ["test_streams_may_be_cut_anywhere", "test_the_size_of_chunks_means_nothing"])
def test_a_brittle_parser_is_caught(rule: str) -> None:
    test = getattr(substrate_contract.SubstrateContract(), rule)
    with pytest.raises((UnicodeDecodeError, AssertionError, ExceptionGroup)):
        test(Brittle(), ("☃☃☃\n".encode(),))


class Meddler:
    """Edits evidence, and answers in no format."""

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        (workspace / "context" / "task.md").write_text("Another task.\n", encoding="utf-8")
        (workspace / "context" / "harness" / "PROMPT.md").write_text("Mine.\n", encoding="utf-8")
        return Said(Outcome.FINISHED, "I choose the best one, and learned a lot.")


def test_proposers_that_break_the_contract_are_caught(tmp_path: Path) -> None:
    contract, ctx = proposer_contract.ProposerContract(), FakeContext(tmp_path / "ctx")
    given = (Meddler(), "box/one", "toy", dict(TREE.files), ctx)
    red(lambda: contract.test_it_edits_nothing_but_the_harness("inv", *given, tmp_path / "1"))
    red(lambda: contract.test_the_harness_stays_where_no_edit_is_asked_for("keep", *given, tmp_path / "2"))
    with pytest.raises(Exception, match="choice"):
        contract.test_it_chooses_one_of_the_candidates(*given, tmp_path / "3")
    with pytest.raises(Exception, match="experience"):
        contract.test_it_tells_a_lesson_or_that_there_is_none(*given, tmp_path / "4")


class Harsh:
    """Fails everything it cannot judge, passes a delivered nothing, and tidies up."""

    def items(self, task: str, grader: Path) -> Sequence[Item] | None:
        return None

    def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:
        files = sorted(work.deliverables.glob("*"))
        yield Verdict("a", not files)
        yield Verdict("a", False)
        for file in files:
            file.unlink()


def test_judges_that_break_the_contract_are_caught(tmp_path: Path) -> None:
    contract, ctx = judge_contract.JudgeContract(), FakeContext(tmp_path / "ctx")
    red(lambda: contract.test_what_is_all_there_passes(Harsh(), _grading(tmp_path / "1"), ctx))
    red(lambda: contract.test_verdicts_are_about_its_items_each_once(Harsh(), _grading(tmp_path / "2"), ctx))
    red(lambda: contract.test_a_delivered_nothing_passes_nothing(Harsh(), _grading(tmp_path / "3"), ctx, tmp_path))
    red(lambda: contract.test_a_failure_to_judge_is_missing_and_never_zero(Harsh(), [_grading(tmp_path / "4")], ctx))
    red(lambda: contract.test_judging_changes_nothing(Harsh(), _grading(tmp_path / "5"), ctx))


def _grading(root: Path) -> Grading:
    folders: Mapping[str, Path] = {
        name: root / name for name in ("deliverables", "views", "sealed", "grader", "source")
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    (folders["deliverables"] / "answer.txt").write_text("x")
    return Grading("a/b", **folders)
