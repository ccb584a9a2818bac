"""A toy benchmark, agent, improver and judge, and a store in memory: what the work layer is tried with."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest
from attrs import evolve

from harness2_core.api import (
    Allowed,
    BenchSpec,
    BenchWords,
    Context,
    Endpoint,
    Exit,
    GradeRequest,
    Grading,
    HarnessTree,
    Install,
    Item,
    Observation,
    Outcome,
    Place,
    RolloutRequest,
    Said,
    SessionRequest,
    StoreError,
    Surface,
    Task,
    Trajectory,
    Usage,
    Verdict,
    request_digest,
)
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.canonical import digest_bytes
from harness2_core.model.channel import NO_MODEL, Channel
from harness2_core.model.manifest import Entry, Manifest
from harness2_core.model.records import Grade, Reply, Rollout
from harness2_core.model.requests import Request, kind_of
from harness2_core.model.serial import load
from harness2_core.work.access import PlainAccess
from harness2_core.work.material import grader_manifest, material
from harness2_core.work.providers import Providers
from harness2_core.work.trees import put_manifest, put_tree
from harness2_core.work.worker import perform_with


class MemoryStore:
    """Blobs and records in dictionaries."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.records: dict[tuple[str, str], bytes] = {}
        self._lock = threading.Lock()

    def put_blob(self, source: Path | bytes) -> str:
        data = source if isinstance(source, bytes) else source.read_bytes()
        digest = digest_bytes(data)
        self.blobs[digest] = data
        return digest

    def has_blob(self, digest: str) -> bool:
        return digest in self.blobs

    def open_blob(self, digest: str) -> BinaryIO:
        if digest not in self.blobs:
            raise StoreError(f"no blob {digest}", "restore it")
        return io.BytesIO(self.blobs[digest])

    def put(self, kind: str, key: str, value: bytes) -> bool:
        with self._lock:
            if (kind, key) in self.records:
                return False
            self.records[kind, key] = value
            return True

    def get(self, kind: str, key: str) -> bytes | None:
        return self.records.get((kind, key))

    def scan(self, kind: str) -> Iterator[tuple[str, int]]:
        yield from sorted((key, len(value)) for (found, key), value in self.records.items() if found == kind)

    def delete(self, kind: str, key: str) -> None:
        self.records.pop((kind, key), None)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        yield True

    def text(self, entry: Entry) -> str:
        return self.blobs[entry.digest].decode()


class ToyBench:
    """Inputs in a directory; `key.txt` beside it is the grader's."""

    def __init__(self, root: Path, **spec: object) -> None:
        self.root = root
        self.spec = BenchSpec("toys", BenchWords("Sums of numbers."), **spec)  # type: ignore[arg-type]
        self.expects: tuple[str, ...] = ()
        self.limit_seconds = 0

    def tasks(self, split: str) -> Sequence[str]:
        return ("one",)

    def task(self, id: str) -> Task:
        inputs = self.root / "inputs"
        files = {path.relative_to(inputs).as_posix(): path for path in sorted(inputs.rglob("*")) if not path.is_dir()}
        return Task(id, "sums", f"Sum the numbers of task {id}.", files, self.expects, self.limit_seconds)

    def base_tree(self, surface: Surface) -> HarnessTree:
        return HarnessTree({"scripts/solve.py": "print('hello')\n"})

    def grader_side(self, task: str) -> Mapping[str, Path]:
        return {"key.txt": self.root / "key.txt"}


SURFACE = Surface(
    "toy", always_on=(), cap_chars=0, allowed=(Allowed("script", "scripts/<script>.py"), Allowed("program", "main.md"))
)


class ToyAgent:
    """The harness is a program: `scripts/solve.py` runs, and what it prints is the trajectory."""

    surface = SURFACE

    def __init__(self) -> None:
        self.env: Mapping[str, str] = {}
        self.home: Mapping[str, bytes] = {}
        self.places: list[Place] = []

    def install(self, tree: HarnessTree, prompt: str, channel: Channel, place: Place, endpoint: Endpoint) -> Install:
        self.places.append(place)
        files = {path: text.encode() for path, text in tree.files.items()}
        env = {**self.env, **({"TOY_KEY": endpoint.key} if endpoint.key else {})}
        return Install(files, self.home, (sys.executable, "scripts/solve.py"), env, stdin=prompt.encode())

    def parse(self, stdout: Iterator[bytes], stderr: Iterator[bytes], exit: Exit) -> Trajectory:
        shown = b"".join(stdout).decode(errors="replace") + b"".join(stderr).decode(errors="replace")
        return Trajectory((Observation(shown, exit.code != 0),), evolve(NO_MODEL, elapsed_ms=exit.usage.elapsed_ms))


class ToyProposer:
    """Does what the test says, in the workspace."""

    def __init__(self, act: Callable[[SessionRequest, Path, Context], Said | None]) -> None:
        self.act = act

    def run(self, request: SessionRequest, workspace: Path, ctx: Context) -> Said:
        return self.act(request, workspace, ctx) or Said(Outcome.FINISHED, "Done.", Usage("0.5", source="stream"))


class ToyJudge:
    """Verdicts by a function of the item and the grading."""

    def __init__(self, verdict: Callable[[Item, Grading], Verdict], names: Sequence[str] | None = ("a", "b")) -> None:
        self.verdict = verdict
        self.known = None if names is None else [Item(name) for name in names]
        self.asked: list[str] = []

    def items(self, task: str, grader: Path) -> Sequence[Item] | None:
        return self.known

    def grade(self, work: Grading, items: Sequence[Item], ctx: Context) -> Iterator[Verdict]:
        for item in items or [Item("found")]:
            self.asked.append(item.name)
            yield self.verdict(item, work)


class Toys:
    """A runs directory with toy providers, and short ways to ask for work."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.runs = root / "runs"
        (root / "bench" / "inputs").mkdir(parents=True)
        (root / "bench" / "inputs" / "numbers.txt").write_text("1\n2\n")
        (root / "bench" / "key.txt").write_text("the answer is 3\n")
        self.store = MemoryStore()
        self.bench = ToyBench(root / "bench")
        self.agent: object = ToyAgent()
        self.proposer: object = ToyProposer(lambda request, workspace, ctx: None)
        self.judge: object = ToyJudge(lambda item, work: Verdict(item.name, True))
        self.access: object = PlainAccess({})
        self.sandbox: object | None = None
        self.checks: tuple[object, ...] = ()
        self.options: dict[str, object] = {}

    def providers(self) -> Providers:
        return Providers(
            self.store,
            self.bench,
            self.access,  # type: ignore[arg-type]
            lambda name: self.agent,  # type: ignore[arg-type, return-value]
            lambda name: self.proposer,  # type: ignore[arg-type, return-value]
            lambda name: self.judge,  # type: ignore[arg-type, return-value]
            self.sandbox,  # type: ignore[arg-type]
            "none" if self.sandbox is None else "toy",
            self.checks,  # type: ignore[arg-type]
            {"adapter.toys": "harness2-toys 0.1.0"},
        )

    def rollout_request(self, program: str | Mapping[str, str] = "", label: str = "base1", **channel: object):
        tree = {"scripts/solve.py": program} if isinstance(program, str) else program
        card = material(self.store, self.bench, "one", "toys")
        digest = put_tree(self.store, HarnessTree(tree))
        channel = {"limit_seconds": 60, **channel}
        return RolloutRequest(
            "toys", "one", card.digest, "toy", digest, Channel(**channel), {}, f"toys-toy-agg1/one/{label}"
        )

    def session_request(self, editable: Mapping[str, bytes] | None = None, evidence: Mapping[str, bytes] | None = None):
        card = material(self.store, self.bench, "one", "toys")
        return SessionRequest(
            "toys",
            "one",
            card.digest,
            "toy",
            "improver",
            "inv",
            "toy",
            Channel(limit_seconds=60),
            {},
            "Improve it.",
            self.manifest(evidence or {"task.md": b"Sum."}),
            None if editable is None else self.manifest(editable),
            "toys-toy-agg1/one/inv1",
        )

    def grade_request(self, rollout: str):
        card = material(self.store, self.bench, "one", "toys")
        grader = put_manifest(self.store, grader_manifest(self.store, self.bench, "one"))
        return GradeRequest("toys", "one", card.digest, rollout, grader, "toy", Channel(), {})

    def manifest(self, files: Mapping[str, bytes]) -> str:
        entries = {path: Entry(self.store.put_blob(data), len(data)) for path, data in files.items()}
        return put_manifest(self.store, Manifest(entries))

    def perform(self, *requests: Request) -> tuple[Ended, ...]:
        work = Assignment(requests, {}, {}, "memory", str(self.runs), **self.options)  # type: ignore[arg-type]
        return perform_with(work, self.providers())

    def record(self, request: Request) -> Rollout | Reply | Grade:
        kind = kind_of(request)
        data = self.store.get(kind, request_digest(request))
        assert data is not None, "there is no record"
        return load(data, {"rollout": Rollout, "session": Reply, "grade": Grade}[kind])

    def done(self, request: Request):
        """The record of a request that must end well."""
        (ended,) = self.perform(request)
        assert ended.final, ended
        return self.record(request)

    def rolled(self, program: str | Mapping[str, str], **channel: object) -> Rollout:
        return self.done(self.rollout_request(program, **channel))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def toys(tmp_path: Path) -> Toys:
    return Toys(tmp_path)


@pytest.fixture
def toys_at() -> type[Toys]:
    return Toys


@pytest.fixture
def proposer_that() -> type[ToyProposer]:
    return ToyProposer


@pytest.fixture
def judge_by() -> type[ToyJudge]:
    return ToyJudge


@pytest.fixture
def agent_class() -> type[ToyAgent]:
    return ToyAgent


@pytest.fixture
def bench_class() -> type[ToyBench]:
    return ToyBench
