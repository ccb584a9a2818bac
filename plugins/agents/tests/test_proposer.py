"""The proposer `agent`, with a toy in the place of a real agent: a program that edits and answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from attrs import frozen
from harness2_agents.prices import priced
from harness2_agents.proposer import EDITOR, AgentProposer, editor_harness
from harness2_agents.reply import ANSWER, LONGEST, Written, last_words, written_answer
from harness2_agents.settings import AgentSettings
from harness2_agents.stream import count_at, records, text_at
from hypothesis import given
from hypothesis import strategies as st

from harness2_core.api import (
    Action,
    Allowed,
    Assistant,
    Channel,
    Context,
    Ending,
    Endpoint,
    Event,
    Exit,
    Failure,
    FrozenMap,
    HarnessTree,
    Install,
    Lost,
    Observation,
    Outcome,
    Place,
    Proposer,
    Reasoning,
    Surface,
    Trajectory,
    request_digest,
)
from harness2_core.testing import FakeContext, ProposerContract, WorkRoom
from harness2_core.testing.memory_store import MemoryStore

PLAYS = r"""
import json, os, pathlib, sys, time
mission = sys.stdin.read()
harness = pathlib.Path("context/harness/PROMPT.md")
def say(text): print(json.dumps({"say": text}), flush=True)
def act(text): print(json.dumps({"act": text}), flush=True)
def edit(line): harness.write_text(harness.read_text() + line + "\n")
print("starting up ...")
act("ls context")
"""
"""What every program of these tests begins with."""

BY_KIND = (
    PLAYS
    + r"""
if "kind select" in mission: say("<why>A is better</why>\n\n```choice\nA\n```")
elif "kind reflect" in mission: say("<experience>\ncue: a toy\nlesson: use a box\nevidence: agg1 did\n</experience>")
elif "kind keep" in mission: say("KEEP_BASE")
else: edit("use a box"); say("<notes>added a line</notes>")
print(json.dumps({"input": 1000, "output": 100}))
"""
)


@frozen
class ToyEditor:
    """An agent that runs `program`, whatever its harness says."""

    program: str = BY_KIND

    @property
    def surface(self) -> Surface:
        return Surface("toy", ("PROMPT.md",), 2000, (Allowed("script", "scripts/<script>.py"),), ("PROMPT.md",))

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        files = FrozenMap({path: text.encode() for path, text in tree.files.items()})
        argv = (sys.executable, "-I", "-S", "-c", self.program)
        return Install(files, FrozenMap(), argv, FrozenMap({"MODEL": channel.model}), stdin=prompt.encode())

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        events: list[Event] = []
        tokens: dict[str, int] = {}
        for record in records(stdout):
            if said := text_at(record.value, "say"):
                events.append(Assistant(said))
            if did := text_at(record.value, "act"):
                events.append(Action("bash", did))
            if wrong := text_at(record.value, "error"):
                events.append(Failure(wrong))
            tokens |= {kind: count for kind in ("input", "output") if (count := count_at(record.value, kind))}
        return Trajectory(tuple(events), priced("claude-sonnet-4-5", tokens))

    def loss(self, trajectory: Trajectory, exit: Exit) -> Lost | None:
        wrong = next((event.text for event in trajectory.events if isinstance(event, Failure)), "")
        return Lost("rate-limit", wrong, wait_seconds=7) if "429" in wrong else None

    def outcome(self, trajectory: Trajectory, exit: Exit) -> Ending | None:
        failures = [event.text for event in trajectory.events if isinstance(event, Failure)]
        return Ending(Outcome.REFUSED, "it would not") if "refused" in failures else None

    def version(self) -> str:
        return "toy 2.0.0"


class TestAgentProposer(ProposerContract):
    @pytest.fixture
    def proposer(self) -> Proposer:
        return AgentProposer()

    @pytest.fixture
    def ctx(self, tmp_path: Path) -> Context:
        return FakeContext(tmp_path / "ctx", {"toy": ToyEditor()})


# -- in core's worker

TREE: Mapping[str, bytes] = {"PROMPT.md": b"Do as the task says.\n"}
CHANNEL = Channel("m1", "high", limit_seconds=60)


@pytest.fixture
def room(tmp_path: Path) -> WorkRoom:
    made = WorkRoom(tmp_path)
    made.agent = ToyEditor()
    made.proposer = AgentProposer()
    return made


def plays(room: WorkRoom, more: str) -> None:
    room.agent = ToyEditor(PLAYS + more)


@pytest.mark.process
def test_the_agents_edit_and_words_come_back_with_price_version_and_set_up(room: WorkRoom) -> None:
    reply = room.replied(room.session_request(TREE, channel=CHANNEL))
    assert (reply.outcome, reply.text) == (Outcome.FINISHED, "<notes>added a line</notes>")
    assert reply.harvested is not None
    assert room.text(reply.harvested.entries["PROMPT.md"]) == "Do as the task says.\nuse a box\n"
    assert reply.accepted is not None
    assert reply.notes == ("the answer is that of the last message",)
    assert (reply.usage.usd, reply.usage.source) == ("0.0045", "price list")
    assert dict(reply.usage.tokens) == {"input": 1000, "output": 100}
    assert (reply.versions["agent.toy"], reply.versions["model"], reply.versions["effort"]) == (
        "toy 2.0.0",
        "m1",
        "high",
    )
    assert len(reply.versions["config.toy"]) == 64


@pytest.mark.process
def test_it_reads_the_mission_and_works_as_an_editor_in_the_sessions_directory(room: WorkRoom) -> None:
    plays(room, 'say(mission + "|" + open("PROMPT.md").read() + "|" + " ".join(sorted(os.listdir("."))))')
    reply = room.replied(room.session_request(TREE))
    mission, harness, listed = reply.text.split("|")
    assert mission.startswith("Improve it.\n")
    assert ANSWER in mission
    assert harness == EDITOR
    assert listed.split() == ["PROMPT.md", "context"]


@pytest.mark.process
def test_a_session_without_a_harness_is_answered(room: WorkRoom) -> None:
    plays(room, 'say(" ".join(sorted(os.listdir("context"))))')
    reply = room.replied(room.session_request(None))
    assert (reply.text, reply.harvested) == ("task.md", None)


@pytest.mark.process
def test_an_answer_that_was_written_goes_before_the_last_message(room: WorkRoom) -> None:
    plays(room, 'os.mkdir("output"); pathlib.Path("output/answer.md").write_text("long answer"); say("see the file")')
    reply = room.replied(room.session_request(TREE))
    assert reply.text == "long answer"
    assert reply.notes == ("the answer is that of output/answer.md",)


@pytest.mark.process
@pytest.mark.parametrize(
    "leaves",
    [
        'os.mkdir("output"); os.symlink("/etc/hostname", "output/answer.md")',
        'os.symlink("context", "output"); os.chmod("context", 0o700); open("context/answer.md", "w").write("x")',
        'os.mkdir("output"); os.mkfifo("output/answer.md")',
        'os.makedirs("output/answer.md")',
        'os.mkdir("output"); open("output/answer.md", "w").write(" \\n")',
        f'os.mkdir("output"); open("output/answer.md", "w").write("x" * {LONGEST + 1})',
    ],
    ids=["a link", "a linked directory", "a pipe", "a directory", "blanks", "too long"],
)
def test_what_is_no_readable_answer_is_none(room: WorkRoom, leaves: str) -> None:
    plays(room, f'{leaves}; say("my words")')
    reply = room.replied(room.session_request(TREE))
    assert reply.text == "my words"
    assert reply.notes[0].startswith("the answer is that of the last message")
    assert ("output" in reply.notes[0]) is (" \\n" not in leaves)  # what is refused is named


@pytest.mark.process
@pytest.mark.parametrize(
    ("plays_this", "cause", "note"),
    [
        ('say("so far"); sys.exit(3)', "crashed", "the answer is that of the last message"),
        ('say("so far"); time.sleep(600)', "timed-out", "the answer is that of the last message"),
        ('say("so far"); print(json.dumps({"error": "refused"}))', "refused", "it would not"),
        ("pass", "crashed", "the session ended without a word"),
        ('print(json.dumps({"error": "429 slow down"}))', "rate-limit", "429 slow down"),
        ('edit("x"); say("done"); print(json.dumps({"error": "429 slow down"}))', "rate-limit", "429 slow down"),
    ],
    ids=["crashed", "timed out", "refused", "silent", "lost", "lost at the end"],
)
def test_a_session_that_gave_no_answer_says_why_and_what_it_cost(
    room: WorkRoom, plays_this: str, cause: str, note: str
) -> None:
    room.agent = ToyEditor(PLAYS + 'print(json.dumps({"input": 1000}), flush=True)\n' + plays_this)
    request = room.session_request(TREE, channel=Channel(limit_seconds=3 if cause == "timed-out" else 60))
    (ended,) = room.perform(request)
    assert (ended.final, ended.cause) == (False, cause)
    assert note in ended.note
    assert ended.wait_seconds == (7 if cause == "rate-limit" else 0)
    assert room.store.get("session", request_digest(request)) is None
    assert b'"usd":"0.003"' in attempts(room.store)


@pytest.mark.process
def test_altered_evidence_is_told(room: WorkRoom) -> None:
    plays(room, 'os.chmod("context/task.md", 0o600); open("context/task.md", "w").write("other"); say("done")')
    notes = room.replied(room.session_request(TREE)).notes
    assert "the evidence was altered: 'context/task.md' was changed" in notes


@pytest.mark.process
def test_what_no_harness_may_hold_is_refused_by_name(room: WorkRoom) -> None:
    plays(room, 'os.symlink("/etc/hostname", "context/harness/link.md"); say("done")')
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    assert any("'link.md' is a symbolic link" in problem for problem in reply.problems)


# -- which agent, and what it is told


def test_it_drives_the_agent_that_is_set_else_the_one_that_is_improved() -> None:
    assert AgentProposer().drives == ""
    assert AgentProposer(AgentSettings("other")).drives == "other"


@pytest.mark.process
def test_another_agent_may_edit_than_the_one_that_is_improved(tmp_path: Path) -> None:
    from harness2_core.testing.proposer_contract import session_request

    (tmp_path / "workspace").mkdir()
    ctx = FakeContext(tmp_path / "ctx", {"other": ToyEditor(PLAYS + 'say("other")')})
    said = AgentProposer(AgentSettings("other")).run(session_request("select", "d/t"), tmp_path / "workspace", ctx)
    assert said.text == "other"


class Program(ToyEditor):
    @property
    def surface(self) -> Surface:
        return Surface("program", (), 0, (Allowed("program", "solve.py"),), ("solve.py",))


class Demanding(ToyEditor):
    """Needs a file beside the one that is always on."""

    @property
    def surface(self) -> Surface:
        return Surface("demanding", ("A.md",), 0, (Allowed("script", "scripts/<script>.py"),), ("scripts/x.py",))


class Shipping(Demanding):
    def base_tree(self) -> HarnessTree:
        return HarnessTree({"A.md": "of a run\n", "scripts/x.py": "pass\n", "scripts/y.py": "pass\n"})


def test_an_agent_whose_harness_is_a_program_cannot_edit() -> None:
    assert AgentProposer().unfit(ToyEditor()) == ""
    assert "program" in AgentProposer().unfit(Program())
    assert AgentProposer().unfit(Demanding()) != ""


def test_while_it_edits_an_agent_has_an_editors_harness_and_what_it_cannot_do_without() -> None:
    made = editor_harness(Shipping())
    assert made is not None
    assert dict(made.files) == {"A.md": EDITOR, "scripts/x.py": "pass\n"}


# -- the last words


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], ""),
        ([Assistant("a"), Assistant("b")], "a\n\nb"),
        ([Assistant("I look"), Action("bash", "ls"), Observation("x"), Assistant("done")], "done"),
        ([Assistant("answer"), Action("bash", "rm x"), Observation("")], "answer"),
        ([Assistant("a"), Reasoning("hm"), Assistant("b"), Failure("late")], "a\n\nb"),
        ([Assistant("a"), Action("x", ""), Assistant("  ")], "a"),
    ],
)
def test_the_last_words_are_those_after_the_last_action_that_words_followed(events: list[Event], words: str) -> None:
    assert last_words(Trajectory(tuple(events))) == words


@given(st.lists(st.sampled_from([Assistant("a"), Assistant(""), Action("b", "c"), Reasoning("d")])))
def test_there_are_last_words_if_anything_was_said(events: list[Event]) -> None:
    assert bool(last_words(Trajectory(tuple(events)))) is (Assistant("a") in events)


def test_an_answer_of_any_bytes_is_text(tmp_path: Path) -> None:
    assert written_answer(tmp_path) == Written()
    (tmp_path / "output").mkdir()
    (tmp_path / ANSWER).write_bytes(b"\xffok")
    assert written_answer(tmp_path) == Written("\ufffdok")
    os.truncate(tmp_path / ANSWER, LONGEST + 1)
    assert written_answer(tmp_path).text == ""
    assert "1,048,577 bytes" in written_answer(tmp_path).problem


def attempts(store: MemoryStore) -> bytes:
    return b"".join(store.get("attempt", key) or b"" for key, _ in store.scan("attempt"))
