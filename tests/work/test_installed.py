from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import Assignment, FrozenMap, HarnessTree, RolloutRequest, request_digest
from harness2_core.model.channel import Channel
from harness2_core.model.records import Rollout
from harness2_core.model.serial import load
from harness2_core.work import installed
from harness2_core.work.attempts import attempts_of, lost_attempts
from harness2_core.work.content import put_content
from harness2_core.work.material import material
from harness2_core.work.trees import put_tree
from harness2_core.work.worker import perform

MODULE = '''
import sys
from contextlib import contextmanager
from pathlib import Path

import attrs

from harness2_core.api import (
    NO_MODEL, Allowed, BenchSpec, BenchWords, HarnessTree, Install, Observation, Provider, Surface, Task, Trajectory,
    content, digest_bytes, hookimpl,
)


class Files:
    """A store of files, without claims."""

    def __init__(self, runs):
        self.root = runs / "store"
        self.root.mkdir(parents=True, exist_ok=True)

    def _path(self, *parts):
        return self.root / "-".join(parts).replace("/", "_")

    def put_blob(self, source):
        data = source if isinstance(source, bytes) else source.read_bytes()
        self._path("blob", digest_bytes(data)).write_bytes(data)
        return digest_bytes(data)

    def has_blob(self, digest):
        return self._path("blob", digest).exists()

    def open_blob(self, digest):
        return self._path("blob", digest).open("rb")

    def put(self, kind, key, value):
        if self._path(kind, key).exists():
            return False
        self._path(kind, key).write_bytes(value)
        return True

    def get(self, kind, key):
        path = self._path(kind, key)
        return path.read_bytes() if path.exists() else None

    def scan(self, kind):
        return iter(())

    def delete(self, kind, key):
        self._path(kind, key).unlink(missing_ok=True)

    @contextmanager
    def claim(self, key):
        yield True


class Bench:
    spec = BenchSpec("toyworld", BenchWords("Sums."))

    def tasks(self, split):
        return ("one",)

    def task(self, id):
        return Task(id, "sums", "Sum.")

    def base_tree(self, surface):
        return HarnessTree({"main.md": "x"})


@attrs.frozen
class AgentSettings:
    greeting: Path = content()
    times: int = 1


class Agent:
    surface = Surface("toy", always_on=(), cap_chars=0, allowed=(Allowed("program", "main.md"),))

    def __init__(self, settings):
        self.settings = settings

    def install(self, tree, prompt, channel, place, endpoint):
        text = self.settings.greeting.read_text() * self.settings.times
        if channel.options.get("slow"):
            code = "import os, time; open('begun', 'w').write(str(os.getpid())); time.sleep(600)"
            return Install({}, {}, (sys.executable, "-c", code), {})
        return Install({}, {}, (sys.executable, "-c", f"print({text!r})"), {})

    def parse(self, stdout, stderr, exit):
        return Trajectory((Observation(b"".join(stdout).decode()),), NO_MODEL)


def stores(runs):
    return Files(runs)


@hookimpl
def harness2_stores():
    return [Provider("toyfiles", "files", "toyworld:stores")]


@hookimpl
def harness2_adapters():
    return [Provider("toyworld", "bench", "toyworld:Bench")]


@hookimpl
def harness2_substrates():
    return [Provider("toyagent", "agent", "toyworld:Agent", "toyworld:AgentSettings")]
'''

ENTRIES = """\
[harness2.v1]
adapter.toyworld = toyworld
substrate.toyagent.ta = toyworld
store.toyfiles = toyworld
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assignment]:
    """An assignment of one rollout, for plugins of a distribution installed for this test."""
    site = tmp_path / "site"
    info = site / "harness2_toyworld-1.2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harness2-toyworld\nVersion: 1.2.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (site / "toyworld.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(installed, "_made", {})
    toyworld = importlib.import_module("toyworld")

    store = toyworld.Files(tmp_path / "runs")
    (tmp_path / "greeting.txt").write_text("hello ")
    greeting = put_content(store, tmp_path / "greeting.txt")
    card = material(store, toyworld.Bench(), "one", "toyworld")
    tree = put_tree(store, HarnessTree(FrozenMap({"main.md": "x"})))
    request = RolloutRequest(
        "toyworld", "one", card.digest, "ta", tree, Channel(limit_seconds=60), FrozenMap(), "toyworld-ta-agg1/one/base1"
    )
    versions = {"adapter.toyworld": "harness2-toyworld 1.2.0", "substrate.toyagent": "harness2-toyworld 1.2.0"}
    settings = {"substrate.toyagent": f'{{"greeting":"{greeting}","times":2}}'}
    yield Assignment((request,), FrozenMap(versions), FrozenMap(settings), "toyfiles", str(tmp_path / "runs"))
    sys.modules.pop("toyworld", None)


@pytest.mark.process
def test_an_assignment_is_all_that_a_worker_needs(work: Assignment) -> None:
    (ended,) = perform(pickle.loads(pickle.dumps(work)))
    assert ended.final, ended
    store = installed.providers_for(work).store
    record = load(store.get("rollout", ended.request) or b"", Rollout)
    with store.open_blob(record.stream.digest) as stream:
        assert stream.read() == b"hello hello \n"
    assert record.versions["substrate.toyagent"] == "harness2-toyworld 1.2.0"


def test_a_worker_with_another_version_refuses_by_name(work: Assignment) -> None:
    other = evolve(work, providers={**work.providers, "substrate.toyagent": "harness2-toyworld 2.0.0"})
    (ended,) = perform(other)
    assert (ended.final, ended.cause) == (False, "worker")
    assert "substrate.toyagent is harness2-toyworld 1.2.0 here, and harness2-toyworld 2.0.0" in ended.note


def test_a_worker_without_a_plugin_refuses_by_name(work: Assignment) -> None:
    other = evolve(work, providers={**work.providers, "proposer.nowhere": "harness2-nowhere 1.0"})
    (ended,) = perform(other)
    assert "proposer.nowhere (harness2-nowhere 1.0) is not usable here" in ended.note


def test_providers_are_made_once_for_the_same_settings(work: Assignment) -> None:
    first = installed.providers_for(work)
    assert installed.providers_for(evolve(work, requests=())) is first
    assert installed.providers_for(evolve(work, settings=FrozenMap())) is not first
    assert request_digest(work.requests[0])


@pytest.mark.process
def test_of_two_plugins_with_one_name_the_one_that_the_run_was_started_with_is_used(
    work: Assignment, tmp_path: Path
) -> None:
    info = tmp_path / "site" / "harness2_rival-9.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harness2-rival\nVersion: 9.0\n")
    (info / "entry_points.txt").write_text("[harness2.v1]\nsubstrate.toyagent.ta = rival_that_is_not_there\n")
    (ended,) = perform(work)
    assert ended.final, ended


@pytest.mark.process
def test_a_worker_killed_in_the_middle_leaves_an_attempt_in_flight_and_nothing_alive(
    work: Assignment, tmp_path: Path
) -> None:
    (request,) = work.requests
    slow = evolve(request, channel=evolve(request.channel, limit_seconds=600, options=FrozenMap({"slow": "yes"})))
    digest = request_digest(slow)
    (tmp_path / "work.pickle").write_bytes(pickle.dumps(evolve(work, requests=(slow,))))
    code = (
        "import pickle, sys\n"
        f"sys.path[:0] = [{str(tmp_path / 'site')!r}, *{sys.path!r}]\n"
        "from harness2_core.work.worker import perform\n"
        f"perform(pickle.loads(open({str(tmp_path / 'work.pickle')!r}, 'rb').read()))\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code])
    begun = tmp_path / "runs" / "work" / digest / "begun"
    _wait(lambda: begun.exists() and begun.read_text() != "")
    agent = int(begun.read_text())
    worker.kill()
    worker.wait()
    _wait(lambda: not _alive(agent))
    store = installed.providers_for(work).store
    (attempt,) = attempts_of(store, digest)
    assert attempt.in_flight
    assert lost_attempts(store, digest) == 0
    assert store.get("rollout", digest) is None


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
