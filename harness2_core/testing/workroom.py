"""A room to work in: one request at a time through core's real worker, with providers at hand and a store in memory.

Put your provider in the place of a toy one and ask for a rollout, a session or a grade; what comes back is the record.
The toys are small and real: the bench has one task on one file, the agent runs its harness as a Python program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve, frozen

from harness2_core.api import (
    NO_MODEL,
    Adapter,
    Allowed,
    Assignment,
    BenchSpec,
    BenchWords,
    Channel,
    Check,
    Context,
    Digest,
    Ended,
    Endpoint,
    Entry,
    Exit,
    GradeRequest,
    Grading,
    HarnessTree,
    Install,
    Item,
    Judge,
    Manifest,
    ModelAccess,
    Observation,
    Outcome,
    Place,
    Proposer,
    RemoteAgent,
    Reply,
    Rollout,
    RolloutRequest,
    Said,
    Sandbox,
    SessionRequest,
    Substrate,
    Surface,
    Task,
    Trajectory,
    Usage,
    Verdict,
    request_digest,
)
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.records import Grade
from harness2_core.model.requests import Request, kind_of
from harness2_core.model.serial import load
from harness2_core.work.access import PlainAccess
from harness2_core.work.material import grader_manifest, material
from harness2_core.work.providers import Providers
from harness2_core.work.trees import put_manifest, put_tree
from harness2_core.work.worker import perform_with

from .memory_store import MemoryStore

T = TypeVar("T")

PROGRAM: Final = "scripts/solve.py"
SUM: Final = """\
from pathlib import Path
total = sum(map(int, Path("numbers.txt").read_text().split()))
Path("output/sum.txt").write_text(f"{total}\\n")
print("summed")
"""
"""A program that does the toy task."""


class SumsBench:
    """One task: sum the numbers in `numbers.txt`. `key.txt` beside the inputs is the grader's."""

    def __init__(self, root: Path, expects: tuple[str, ...] = (), limit_seconds: int = 0, batch: int = 1) -> None:
        self.root = root
        self.spec = BenchSpec("sums", BenchWords("Sums of numbers."), batch=batch)
        self.expects = expects
        self.limit_seconds = limit_seconds
        self.prompt = "Sum the numbers."
        self.inputs.mkdir(parents=True, exist_ok=True)
        (self.inputs / "numbers.txt").write_text("1\n2\n")
        (root / "key.txt").write_text("the answer is 3\n")

    @property
    def inputs(self) -> Path:
        return self.root / "inputs"

    def tasks(self, split: str) -> Sequence[str]:
        return ("one",)

    def task(self, id: str) -> Task:
        paths = [path for path in sorted(self.inputs.rglob("*")) if path.is_symlink() or not path.is_dir()]
        files = FrozenMap({path.relative_to(self.inputs).as_posix(): path for path in paths})
        return Task(id, "sums", self.prompt, files, self.expects, self.limit_seconds)

    def base_tree(self, surface: Surface) -> HarnessTree:
        return HarnessTree({PROGRAM: SUM})

    def grader_side(self, task: str) -> Mapping[str, Path]:
        return {"key.txt": self.root / "key.txt"}


class ProgramAgent:
    """The harness is a program: it runs in the workspace, and what it prints is the trajectory."""

    surface = Surface("toy", always_on=(), cap_chars=0, allowed=(Allowed("script", "scripts/<script>.py"),))

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        files = {path: text.encode() for path, text in tree.files.items()}
        env = {"TOY_KEY": endpoint.key} if endpoint.key else {}
        return Install(files, {}, (sys.executable, PROGRAM), env, stdin=prompt.encode())

    def parse(self, stdout: Iterable[bytes], stderr: Iterable[bytes], exit: Exit) -> Trajectory:
        shown = (b"".join(stdout) + b"".join(stderr)).decode(errors="replace")
        return Trajectory((Observation(shown, exit.code != 0),), evolve(NO_MODEL, elapsed_ms=exit.usage.elapsed_ms))


@frozen
class ActingProposer:
    """Does what the test says, in the workspace; `None` from `act` is an answer that says little."""

    act: Callable[[SessionRequest, Path, Context], Said | None] = lambda request, workspace, ctx: None

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        return self.act(request, workspace, ctx) or Said(Outcome.FINISHED, "Done.", Usage("0.5", source="stream"))


class ItemJudge:
    """A verdict an item, by a function. `names` None: the items are known only by running. `asked` lists the asked."""

    def __init__(self, verdict: Callable[[Item, Grading], Verdict], names: Sequence[str] | None = ("a", "b")) -> None:
        self._verdict = verdict
        self._items = None if names is None else [Item(name) for name in names]
        self.asked: list[str] = []

    def items(self, task: str, grader: Path) -> Sequence[Item] | None:
        return self._items

    def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:
        for item in items or [Item("found")]:
            self.asked.append(item.name)
            yield self._verdict(item, work)


class WorkRoom:
    """Set the attributes to what you try. `runs` is the runs directory; the toy bench lies beside it."""

    def __init__(self, root: Path) -> None:
        self.runs = root / "runs"
        self.sums = SumsBench(root / "bench")
        self.store = MemoryStore()
        self.bench: Adapter = self.sums
        self.agent: Substrate | RemoteAgent = ProgramAgent()
        self.proposer: Proposer = ActingProposer()
        self.judge: Judge = ItemJudge(lambda item, work: Verdict(item.name, True))
        self.access: ModelAccess = PlainAccess({})
        self.sandbox: Sandbox | None = None
        self.checks: tuple[Check, ...] = ()
        self.work = Assignment((), FrozenMap(), FrozenMap(), "memory", str(self.runs))
        """Limits, network and the like of every request."""

    # -- requests

    def rollout_request(
        self, program: str | Mapping[str, str] = SUM, label: str = "base1", channel: Channel | None = None
    ) -> RolloutRequest:
        """Of the bench's first task, under a tree of one program or of these files."""
        name, task = self.bench.spec.name, self.bench.tasks("all")[0]
        tree = HarnessTree(FrozenMap({PROGRAM: program} if isinstance(program, str) else program))
        return RolloutRequest(
            name,
            task,
            material(self.store, self.bench, task, name).digest,
            "toy",
            put_tree(self.store, tree),
            channel or Channel(limit_seconds=60),
            FrozenMap(),
            f"{name}-toy-agg1/{task}/{label}",
        )

    def session_request(
        self,
        editable: Mapping[str, bytes] | None = None,
        evidence: Mapping[str, bytes] | None = None,
        channel: Channel | None = None,
    ) -> SessionRequest:
        name, task = self.bench.spec.name, self.bench.tasks("all")[0]
        return SessionRequest(
            name,
            task,
            material(self.store, self.bench, task, name).digest,
            "toy",
            "improver",
            "inv",
            "toy",
            channel or Channel(limit_seconds=60),
            FrozenMap(),
            "Improve it.",
            self.put({"task.md": b"Sum."} if evidence is None else evidence),
            None if editable is None else self.put(editable),
            f"{name}-toy-agg1/{task}/inv1",
        )

    def grade_request(self, rollout: Digest) -> GradeRequest:
        """Of a rollout in the store."""
        name, task = self.bench.spec.name, self.bench.tasks("all")[0]
        return GradeRequest(
            name,
            task,
            material(self.store, self.bench, task, name).digest,
            rollout,
            put_manifest(self.store, grader_manifest(self.store, self.bench, task)),
            "toy",
            Channel(),
            FrozenMap(),
        )

    def put(self, files: Mapping[str, bytes]) -> Digest:
        """Stores files and a manifest of them."""
        entries = {path: Entry(self.store.put_blob(data), len(data)) for path, data in files.items()}
        return put_manifest(self.store, Manifest(FrozenMap(entries)))

    # -- work

    def perform(self, *requests: Request) -> tuple[Ended, ...]:
        providers = Providers(
            self.store,
            self.bench,
            self.access,
            lambda name: self.agent,
            lambda name: self.proposer,
            lambda name: self.judge,
            self.sandbox,
            "none" if self.sandbox is None else "toy",
            self.checks,
            FrozenMap({"adapter.sums": "harness2-toys 0.1.0"}),
        )
        return perform_with(evolve(self.work, requests=requests), providers)

    def rolled(self, program: str | Mapping[str, str] = SUM, channel: Channel | None = None) -> Rollout:
        """The record of a rollout that must come to an end of its own."""
        return self._done(self.rollout_request(program, channel=channel), Rollout)

    def done(self, request: RolloutRequest) -> Rollout:
        return self._done(request, Rollout)

    def replied(self, request: SessionRequest) -> Reply:
        return self._done(request, Reply)

    def graded(self, request: GradeRequest) -> Grade:
        return self._done(request, Grade)

    def _done(self, request: Request, kind: type[T]) -> T:
        (ended,) = self.perform(request)
        data = self.store.get(kind_of(request), request_digest(request))
        assert ended.final, f"lost: {ended.cause}: {ended.note}"
        assert data is not None, "it ended, and there is no record"
        return load(data, kind)

    # -- what is in the store

    def text(self, entry: Entry) -> str:
        with self.store.open_blob(entry.digest) as stream:
            return stream.read().decode()

    def blobs(self) -> Iterator[bytes]:
        """Every blob's content."""
        for digest, _ in self.store.scan("blob"):
            with self.store.open_blob(digest) as stream:
                yield stream.read()

    def everything(self) -> bytes:
        """All blobs and records, to look for what must not be there."""
        kinds = ("rollout", "session", "grade", "attempt", "verdict")
        records = [self.store.get(kind, key) or b"" for kind in kinds for key, _ in self.store.scan(kind)]
        return b"\n".join([*self.blobs(), *records])
