from __future__ import annotations

import os
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest
from attrs import evolve

from harness2_core.api import (
    Allowed,
    Context,
    FrozenMap,
    HarnessTree,
    Install,
    Lost,
    Outcome,
    Reply,
    Said,
    SessionRequest,
    Usage,
    request_digest,
)
from harness2_core.testing.workroom import ActingProposer, ProgramAgent, SumsBench, WorkRoom
from harness2_core.work.attempts import attempts_of, spent_on_lost
from harness2_core.work.harvest import FILE_BYTES, FILES
from harness2_core.work.trees import read_manifest, read_tree

TREE = {"scripts/solve.py": b"print(1)\n"}


Act: TypeAlias = Callable[[SessionRequest, Path, Context], Said | None]


def editing(edit: Callable[[Path], object], said: Said | None = None) -> Act:
    def act(request: SessionRequest, workspace: Path, ctx: Context) -> Said | None:
        edit(workspace / "context" / "harness")
        return said

    return act


def accepted(room: WorkRoom, reply: Reply) -> dict[str, str]:
    assert reply.accepted is not None, reply.problems
    return dict(read_tree(room.store, reply.accepted).files)


def harvested(room: WorkRoom, reply: Reply) -> dict[str, str]:
    assert reply.harvested is not None
    stored = read_manifest(room.store, reply.harvested.digest)
    return {path: room.text(entry) for path, entry in stored.entries.items()}


def test_an_edited_harness_is_harvested_and_accepted(room: WorkRoom) -> None:
    room.proposer = ActingProposer(editing(lambda harness: (harness / "scripts/solve.py").write_text("print(2)\n")))
    reply = room.replied(room.session_request(TREE))
    assert reply.answered
    assert reply.problems == ()
    assert accepted(room, reply) == harvested(room, reply) == {"scripts/solve.py": "print(2)\n"}
    assert reply.usage.usd == "0.5"


def test_the_editable_part_is_a_copy_and_what_it_came_from_stays(room: WorkRoom) -> None:
    request = room.session_request(TREE)
    assert request.editable is not None
    room.proposer = ActingProposer(editing(lambda harness: (harness / "scripts/solve.py").write_text("changed")))
    room.replied(request)
    assert read_tree(room.store, request.editable).files == {"scripts/solve.py": "print(1)\n"}


def test_a_session_sees_its_evidence_and_nothing_else(room: WorkRoom) -> None:
    seen: list[str] = []

    def act(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        seen.extend(sorted(str(path.relative_to(workspace)) for path in workspace.rglob("*") if path.is_file()))

    room.proposer = ActingProposer(act)
    room.replied(room.session_request(TREE, {"task.md": b"Sum.", "rollouts/base1.md": b"text"}))
    assert seen == ["context/harness/scripts/solve.py", "context/rollouts/base1.md", "context/task.md"]


def test_evidence_has_no_write_bits_and_the_harness_has(room: WorkRoom) -> None:
    modes: dict[str, int] = {}

    def act(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        modes.update({p.name: p.stat().st_mode & 0o222 for p in (workspace / "context").rglob("*")})

    room.proposer = ActingProposer(act)
    room.replied(room.session_request(TREE, {"task.md": b"Sum.", "rollouts/base1.md": b"text"}))
    assert modes["task.md"] == modes["base1.md"] == modes["rollouts"] == 0
    assert modes["harness"]
    assert modes["solve.py"]


def test_a_link_in_a_harness_is_a_problem_in_words_and_its_target_stays_out(room: WorkRoom, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary-of-the-host")
    room.proposer = ActingProposer(
        editing(lambda harness: (harness / "scripts" / "more.py").symlink_to(tmp_path / "secret.txt"))
    )
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    assert "'scripts/more.py' is a symbolic link; a harness holds regular files only" in reply.problems
    assert list(harvested(room, reply)) == ["scripts/solve.py"]
    assert b"canary-of-the-host" not in room.everything()


def test_a_harness_directory_that_is_a_link_is_not_followed(room: WorkRoom, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "scripts").mkdir(parents=True)
    (tmp_path / "elsewhere" / "scripts" / "solve.py").write_text("canary = 1")

    def swap(harness: Path) -> None:
        harness.rename(harness.with_name("old"))
        harness.symlink_to(tmp_path / "elsewhere")

    room.proposer = ActingProposer(editing(swap))
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    assert harvested(room, reply) == {}


def test_all_problems_come_at_once_and_what_was_left_is_stored(room: WorkRoom) -> None:
    def edit(harness: Path) -> None:
        (harness / "scripts/solve.py").write_text("print(")
        (harness / "notes.txt").write_text("off the surface")
        (harness / "scripts/._x~").write_text("dropping")

    room.proposer = ActingProposer(editing(edit))
    reply = room.replied(room.session_request(TREE))
    assert any("does not compile" in problem for problem in reply.problems)
    assert any("notes.txt" in problem for problem in reply.problems)
    assert any("left behind by a tool" in note for note in reply.notes)
    assert sorted(harvested(room, reply)) == ["notes.txt", "scripts/solve.py"]


def test_checks_of_benchmark_substrate_and_extra_plugins_all_take_part(room: WorkRoom, tmp_path: Path) -> None:
    class Bench(SumsBench):
        def check_tree(self, tree: HarnessTree) -> Sequence[str]:
            return ["benchmark says no"]

    class Agent(ProgramAgent):
        def check_tree(self, tree: HarnessTree) -> Sequence[str]:
            raise KeyError("broken")

    room.bench, room.agent, room.checks = Bench(tmp_path / "bench"), Agent(), (lambda tree: ["plugin says no"],)
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    assert "benchmark says no" in reply.problems
    assert "plugin says no" in reply.problems
    assert any("substrate toy could not judge this tree: KeyError" in problem for problem in reply.problems)


def test_keep_base_keeps_what_was_given_whatever_was_edited(room: WorkRoom) -> None:
    said = Said(Outcome.FINISHED, "It is good as it is.\n\nKEEP_BASE\n")
    room.proposer = ActingProposer(
        editing(lambda harness: (harness / "scripts/solve.py").write_text("print('half an edit"), said)
    )
    request = room.session_request(TREE)
    reply = room.replied(request)
    assert reply.kept
    assert reply.accepted == request.editable
    assert reply.problems == ()
    assert harvested(room, reply) == {"scripts/solve.py": "print('half an edit"}


def test_keep_base_quoted_from_the_mission_keeps_nothing(room: WorkRoom) -> None:
    mission = "If nothing justifies a change, reply with this on a line of its own:\n\nKEEP_BASE\n"
    said = Said(Outcome.FINISHED, f"I was told: {mission}\nOne thing did.\n\n<notes>one thing</notes>")
    room.proposer = ActingProposer(
        editing(lambda harness: (harness / "scripts/solve.py").write_text("print('edited')"), said)
    )
    request = evolve(room.session_request(TREE), mission=mission)
    reply = room.replied(request)
    assert not reply.kept
    assert reply.accepted not in (None, request.editable)


def test_keep_base_does_not_make_an_unacceptable_tree_accepted(room: WorkRoom) -> None:
    room.proposer = ActingProposer(lambda *_: Said(Outcome.FINISHED, "KEEP_BASE"))
    reply = room.replied(room.session_request({"scripts/solve.py": b"print("}))
    assert reply.kept
    assert reply.accepted is None


def test_a_session_that_edits_nothing_has_no_harvest(room: WorkRoom) -> None:
    reply = room.replied(room.session_request(None))
    assert reply.answered
    assert reply.harvested is None
    assert reply.accepted is None


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [(Outcome.REFUSED, "refused"), (Outcome.TIMED_OUT, "timed-out"), (Outcome.CRASHED, "crashed")],
)
def test_a_session_without_an_answer_is_not_stored_and_its_price_is_kept(
    room: WorkRoom, outcome: Outcome, cause: str
) -> None:
    room.proposer = ActingProposer(lambda *_: Said(outcome, "Half an answer", Usage("0.75", source="stream")))
    (ended,) = room.perform(room.session_request(TREE))
    assert (ended.final, ended.cause) == (False, cause)
    assert room.store.get("session", ended.request) is None
    assert spent_on_lost(room.store, ended.request).usd == "0.75"
    (attempt,) = attempts_of(room.store, ended.request)
    assert attempt.ended is not None
    assert attempt.ended.outcome is outcome


def test_a_blank_answer_is_no_answer(room: WorkRoom) -> None:
    room.proposer = ActingProposer(lambda *_: Said(Outcome.FINISHED, " \n "))
    (ended,) = room.perform(room.session_request(TREE))
    assert (ended.final, ended.cause) == (False, "crashed")


def test_a_lost_session_tells_cause_wait_and_price(room: WorkRoom) -> None:
    def act(request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        raise Lost("rate-limit", "429 Too Many Requests", wait_seconds=40, usage=Usage("0.1", source="stream"))

    room.proposer = ActingProposer(act)
    (ended,) = room.perform(room.session_request(TREE))
    assert (ended.cause, ended.wait_seconds) == ("rate-limit", 40)
    assert spent_on_lost(room.store, ended.request).usd == "0.1"


def test_what_a_session_says_of_its_workspace_does_not_depend_on_where_it_ran(room: WorkRoom) -> None:
    def act(request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        (workspace / "context/harness/scripts/solve.py").write_text(f"print({str(workspace)!r})\n")
        return Said(Outcome.FINISHED, f"I edited {workspace}/context/harness with {ctx.scratch}.", note=str(workspace))

    room.proposer = ActingProposer(act)
    reply = room.replied(room.session_request(TREE))
    assert reply.text == "I edited /workspace/context/harness with /scratch."
    assert accepted(room, reply) == {"scripts/solve.py": "print('/workspace')\n"}
    assert reply.notes == ("/workspace",)


@pytest.mark.process
def test_a_proposer_runs_a_substrate_s_program_in_its_workspace(room: WorkRoom) -> None:
    printed: list[str] = []

    def act(request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        place = ctx.place(workspace)
        program = f"import os\nprint(os.getcwd() == {place.workspace!r}, os.listdir('context'), os.environ['HOME'])"
        for _ in range(2):  # the second replaces the files of the first, and nobody else's
            files, home = FrozenMap({"run.py": program.encode()}), FrozenMap({".agentrc": b"x"})
            install = Install(files, home, (sys.executable, "run.py"), FrozenMap())
            printed.append(ctx.spawn(install, workspace, 30).stdout.read_text())
        assert (Path(place.home) / ".agentrc").exists()
        return Said(Outcome.FINISHED, "ran")

    room.proposer = ActingProposer(act)
    reply = room.replied(room.session_request(TREE))
    assert printed[0].startswith("True ['")
    assert len(printed) == 2
    assert reply.usage.elapsed_ms > 0


def test_the_same_session_is_never_paid_twice(room: WorkRoom) -> None:
    calls: list[str] = []

    def act(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        calls.append(ctx.key)

    room.proposer = ActingProposer(act)
    request = room.session_request(TREE)
    room.replied(request)
    room.replied(request)
    assert calls == [request_digest(request)]


# -- what a session leaves behind


EVIDENCE = {"task.md": b"Sum.", "rollouts/base1.md": b"[ASSISTANT]\nx\n", "pool/inv1/harness/a.txt": b"a"}


def writable(folder: Path) -> Path:
    """As for an agent with the rights of the user: it may lift the bits that forbid writing."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def test_evidence_that_was_left_alone_is_no_matter(room: WorkRoom) -> None:
    room.proposer = ActingProposer(editing(lambda harness: (harness / "scripts/solve.py").write_text("print(2)\n")))
    assert room.replied(room.session_request(TREE, EVIDENCE)).notes == ()


def test_altered_evidence_is_told_in_the_record_file_by_file(room: WorkRoom) -> None:
    def alter(harness: Path) -> None:
        context = writable(harness.parent)
        (context / "task.md").write_text("Sub.")  # of the same size
        (context / "rollouts/base1.md").unlink()
        (context / "rollouts/base1.md").symlink_to("/etc/hostname")
        (context / "pool/inv1/harness/a.txt").unlink()
        (context / "mine.txt").write_text("new")

    room.proposer = ActingProposer(editing(alter))
    reply = room.replied(room.session_request(TREE, EVIDENCE))
    assert sorted(reply.notes) == [
        "the evidence was altered: 'context/mine.txt' is new",
        "the evidence was altered: 'context/pool/inv1/harness/a.txt' is gone",
        "the evidence was altered: 'context/rollouts/base1.md' is a symbolic link now",
        "the evidence was altered: 'context/task.md' was changed",
    ]
    assert accepted(room, reply) == {"scripts/solve.py": "print(1)\n"}


def test_a_harness_that_a_session_only_reads_is_evidence_too(room: WorkRoom) -> None:
    def alter(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        (writable(workspace / "context") / "harness/a.txt").write_text("b")

    room.proposer = ActingProposer(alter)
    (note,) = room.replied(room.session_request(None, {"task.md": b"Sum.", "harness/a.txt": b"a"})).notes
    assert note == "the evidence was altered: 'context/harness/a.txt' was changed"


def test_of_many_alterations_the_first_are_named_and_the_rest_counted(room: WorkRoom) -> None:
    def alter(harness: Path) -> None:
        for number in range(30):
            (writable(harness.parent) / f"{number}.txt").write_text("new")

    room.proposer = ActingProposer(editing(alter))
    notes = room.replied(room.session_request(TREE, EVIDENCE)).notes
    assert len(notes) == 11
    assert notes[-1] == "the evidence was altered: 20 files more"


@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (lambda path: path.symlink_to("/etc/hostname"), "is a symbolic link"),
        (lambda path: path.symlink_to("solve.py"), "is a symbolic link"),
        (lambda path: os.mkfifo(path), "is a named pipe"),
        (lambda path: listening(path), "is a socket"),
        (lambda path: path.write_bytes(b"x" * ((4 << 20) + 1)), "has 4,194,305 bytes"),
        (lambda path: sparse(path), "has 1,099,511,627,776 bytes"),
    ],
    ids=["a link out", "a link inside", "a pipe", "a socket", "a huge file", "a sparse file"],
)
def test_what_no_harness_may_hold_is_refused_by_name(
    room: WorkRoom, leave: Callable[[Path], object], told: str
) -> None:
    room.proposer = ActingProposer(editing(lambda harness: leave(harness / "scripts/left.py")))
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    (problem,) = reply.problems
    assert "'scripts/left.py'" in problem
    assert told in problem


BINARY = b"\xff\x00\xfe"


def emptied(harness: Path) -> None:
    (harness / "scripts/solve.py").unlink()


def heaped(harness: Path) -> None:
    for number in range(FILES + 10):
        (harness / f"a{number}.txt").touch()
    (harness / "scripts/solve.py").write_text("print(2)\n")


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        (lambda h: (h / "notes.txt").write_text("stray"), {"notes.txt": b"stray", **TREE}),
        (lambda h: (h / "scripts/more.py").write_bytes(BINARY), {"scripts/more.py": BINARY, **TREE}),
        (lambda h: (h / "scripts/solve.py").write_text("print("), {"scripts/solve.py": b"print("}),
        (lambda h: (h / "scripts/Solve.py").write_text("1"), {"scripts/Solve.py": b"1", **TREE}),
        (lambda h: (h / "scripts/a\tb.py").write_text("1"), {"scripts/a\tb.py": b"1", **TREE}),
        (lambda h: (h / "scripts/more.py").write_bytes(b"#" * (FILE_BYTES + 1)), TREE),
        (lambda h: (h / "scripts/more.py").symlink_to("solve.py"), TREE),
        (emptied, {}),
    ],
    ids=["off the surface", "binary", "syntax", "case", "control", "too large", "link", "empty"],
)
def test_a_correction_goes_on_from_the_editor_s_own_files_whatever_the_refusal(
    room: WorkRoom, edit: Callable[[Path], object], left: dict[str, bytes]
) -> None:
    seen: dict[str, bytes] = {}

    def mend(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        harness = workspace / "context/harness"
        seen.update({str(p.relative_to(harness)): p.read_bytes() for p in harness.rglob("*") if p.is_file()})
        for path in seen:
            (harness / path).unlink()
        (harness / "scripts").mkdir(exist_ok=True)
        (harness / "scripts/solve.py").write_text("print(2)\n")

    room.proposer = ActingProposer(editing(edit))
    request = room.session_request(TREE)
    refused = room.replied(request)
    assert refused.accepted is None
    assert refused.problems
    assert refused.harvested is not None
    room.store.put_blob(refused.harvested.encode())
    room.proposer = ActingProposer(mend)
    corrected = room.replied(evolve(request, draw=f"{request.draw}.fix", editable=refused.harvested.digest))
    assert seen == left
    assert accepted(room, corrected) == {"scripts/solve.py": "print(2)\n"}


def test_a_heap_of_other_files_costs_no_edit_its_place(room: WorkRoom) -> None:
    room.proposer = ActingProposer(editing(heaped))
    reply = room.replied(room.session_request(TREE))
    assert reply.accepted is None
    assert harvested(room, reply)["scripts/solve.py"] == "print(2)\n"


def test_a_file_that_was_given_is_kept_though_it_is_called_like_a_dropping(room: WorkRoom) -> None:
    agent = ProgramAgent()
    agent.surface = evolve(agent.surface, allowed=(*agent.surface.allowed, Allowed("skill-file", "data/<file>")))
    room.agent = agent
    room.proposer = ActingProposer(editing(lambda harness: (harness / "data/new.tmp").write_text("dropped")))
    reply = room.replied(room.session_request({**TREE, "data/rows.tmp": b"a template\n"}))
    assert set(accepted(room, reply)) == {"scripts/solve.py", "data/rows.tmp"}
    assert reply.notes == ("ignored 'data/new.tmp': left behind by a tool",)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root may make a device")
def test_a_device_in_a_harness_is_refused_by_name(room: WorkRoom) -> None:
    def leave(harness: Path) -> None:
        os.mknod(harness / "scripts/zero.py", 0o600 | stat.S_IFCHR, os.makedev(1, 5))

    room.proposer = ActingProposer(editing(leave))
    (problem,) = room.replied(room.session_request(TREE)).problems
    assert problem == "'scripts/zero.py' is a device; a harness holds regular files only"


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def listening(path: Path) -> None:
    """A socket; its name may be longer than an address may be, so it is made beside and moved."""
    with socket.socket(socket.AF_UNIX) as made, tempfile.TemporaryDirectory() as short:
        made.bind(f"{short}/s")
        os.rename(f"{short}/s", path)  # noqa: PTH104


def test_a_session_s_workspace_is_private_and_goes_unless_it_is_kept(room: WorkRoom) -> None:
    modes: list[int] = []

    def look(request: SessionRequest, workspace: Path, ctx: Context) -> None:
        modes.append(stat.S_IMODE(workspace.stat().st_mode))
        (workspace / "left.txt").write_text("x")

    room.proposer = ActingProposer(look)
    room.replied(room.session_request(TREE))
    assert modes == [0o700]
    assert list((room.runs / "work").iterdir()) == []
    room.work = evolve(room.work, keep_workspaces=True)
    request = room.session_request(TREE, EVIDENCE)
    room.replied(request)
    assert (room.runs / "work" / request_digest(request) / "left.txt").read_text() == "x"
