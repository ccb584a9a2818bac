"""The toy world keeps the contracts that it helps to test."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Adapter,
    Channel,
    Endpoint,
    HarnessTree,
    Outcome,
    PluginError,
    Proposer,
    Substrate,
    Surface,
)
from harness2_core.testing.adapter_contract import AdapterContract
from harness2_core.testing.fake_context import FakeContext
from harness2_core.testing.proposer_contract import ProposerContract, session_request
from harness2_core.testing.substrate_contract import SubstrateContract
from harness2_core.testing.toy_agent import TOY_SURFACE, Behaviour, ToyAgent
from harness2_core.testing.toys import ToyAnswer, ToyBench, ToyProposer, one_step_mode


class TestToyBench(AdapterContract):
    @pytest.fixture
    def adapter(self, tmp_path: Path) -> Adapter:
        return ToyBench(tmp_path, domains=2, tasks=3)

    @pytest.fixture
    def surface(self) -> Surface:
        return TOY_SURFACE

    @pytest.fixture
    def inputs_of(self, tmp_path: Path, adapter: Adapter) -> tuple[str, Path]:
        adapter.task("d01/t0001")
        return "d01/t0001", tmp_path / "d01/t0001/inputs"


class TestToyAgent(SubstrateContract):
    @pytest.fixture
    def substrate(self) -> Substrate:
        return ToyAgent()

    @pytest.fixture
    def tree(self) -> HarnessTree:
        return HarnessTree({"PROMPT.md": "Do as the task says.\n"})

    @pytest.fixture
    def working_tree(self, tree: HarnessTree) -> HarnessTree:
        return tree


class TestToyProposer(ProposerContract):
    @pytest.fixture
    def proposer(self) -> Proposer:
        return ToyProposer()


def test_a_bench_of_any_size_needs_no_disk() -> None:
    bench = ToyBench(domains=35, tasks=40)
    assert len(bench.tasks("all")) == 1_400
    assert dict(bench.task("d35/t0040").files) == {}


@pytest.mark.process
@pytest.mark.parametrize(
    ("lines", "answer", "code"), [("", "base\n", 0), ("inv\n", "better\n", 0), ("inv\nbad\n", "", 3)]
)
def test_the_agent_behaves_by_its_table(tmp_path: Path, lines: str, answer: str, code: int) -> None:
    agent = ToyAgent({"inv": Behaviour({"answer.txt": "better\n"}), "bad": Behaviour({}, complains="oh\n", code=3)})
    context, workspace = FakeContext(tmp_path / "context"), tmp_path / "workspace"
    workspace.mkdir()
    tree = HarnessTree({"PROMPT.md": "Do as the task says.\n" + lines})
    ended = context.spawn(agent.install(tree, "Do it.", Channel(), context.place(workspace), Endpoint()), workspace, 60)
    file = workspace / "output/answer.txt"
    assert (file.read_text() if file.exists() else "", ended.code) == (answer, code)


@pytest.mark.process
def test_the_fake_context_keeps_time_limits_and_lends_nothing_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS2_CANARY", "canary-41")
    agent, context, workspace = ToyAgent(usual=Behaviour(seconds=60)), FakeContext(tmp_path / "c"), tmp_path / "w"
    workspace.mkdir()
    install = agent.install(HarnessTree({}), "", Channel(), context.place(workspace), Endpoint())
    assert context.spawn(install, workspace, 1).timed_out
    shown = context.spawn(evolve(install, argv=("/usr/bin/env",)), workspace, 60)
    assert b"canary-41" not in shown.stdout.read_bytes()
    assert context.spawned == 2


def test_the_fake_context_knows_the_substrates_it_was_given(tmp_path: Path) -> None:
    agent = ToyAgent()
    context = FakeContext(tmp_path, {"toy": agent})
    assert context.substrate("toy") is agent
    with pytest.raises(PluginError):
        context.substrate("other")


def test_the_one_step_mode_is_a_plan_of_one_edit() -> None:
    plan = one_step_mode().plan(2)
    assert (plan.rollouts, plan.sessions, plan.bases, plan.finals) == (3, 1, ("base1", "base2"), ("inv1",))


def test_outcomes_of_toy_sessions_can_be_set(tmp_path: Path) -> None:
    proposer = ToyProposer({"select": ToyAnswer("no", outcome=Outcome.REFUSED)})
    said = proposer.run(session_request("select", "d01/t0001"), tmp_path, FakeContext(tmp_path))
    assert (said.outcome, proposer.asked) == (Outcome.REFUSED, ["select"])
