"""Rules of contracts that look behind what a plugin returns: purity, hostile folders, sealing, workers that die."""

from __future__ import annotations

import contextlib
import os
import random
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import (
    Adapter,
    Assignment,
    Ballot,
    Call,
    Choice,
    Collected,
    Dialogue,
    Digest,
    Engine,
    Plan,
    Task,
    Work,
)
from harness2_core.testing import InlineEngine, ModeContract, SelectorContract, one_step_mode
from harness2_core.testing.adapter_contract import AdapterContract
from harness2_core.testing.engine_contract import EngineContract
from harness2_core.testing.engine_work import finish
from harness2_core.testing.hostile_inputs import HOSTILE_INPUTS
from harness2_core.testing.purity import reached_for
from harness2_core.testing.toys import ToyBench


def red(test: Callable[[], object]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test()


# --- purity


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda: Path("/etc/hostname").read_text(), "open /etc/hostname"),
        (lambda: list(Path("/var").iterdir()), "open /var"),
        (lambda: Path("notes.txt").open("w").close(), "open .*notes.txt"),
        (lambda: subprocess.run(["true"], check=True), "subprocess.Popen 'true'"),
        (lambda: os.system("true"), "os.system"),
        (lambda: socket.create_connection(("127.0.0.1", 1), 1), "socket.connect"),
        (lambda: random.random(), "the global random generator was used"),
        (lambda: os.environ.update(ZZ_NEW="1"), "the environment was changed"),
    ],
    ids=["reads", "lists", "writes", "runs", "shells", "connects", "dices", "sets"],
)
def test_what_a_call_reaches_for_is_told(
    does: Callable[[], object], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZZ_NEW", "0")
    monkeypatch.chdir(tmp_path)

    def call() -> None:
        with contextlib.suppress(OSError):  # nobody listens on that port
            does()

    _, reached = reached_for(call, "json")
    assert len(reached) >= 1
    assert any(re.search(says, item) for item in reached), reached


def test_modules_and_data_of_the_plugin_itself_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "zz_own"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mission.txt").write_text("Do it.\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    text, reached = reached_for((package / "mission.txt").read_text, "zz_own.deep")

    assert (text, reached) == ("Do it.\n", [])


class Nosy:
    """A mode that looks around."""

    def plan(self, k: int) -> Plan:
        Path("/etc/hostname").read_text()
        return one_step_mode().plan(k)


class Dicing:
    """A selector that leaves the choice to the global generator."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        return Choice(random.choice(ballot.ids))


class Never:
    """A selector that wants two."""

    def select(self, ballot: Ballot) -> Dialogue[Choice]:
        yield from ()
        return Choice(ballot.ids[1])


def test_modes_and_selectors_that_look_around_are_caught() -> None:
    class ANosyMode(ModeContract):
        factory = "json:dumps"

        def mode(self) -> Nosy:
            return Nosy()

    class ADicingSelector(SelectorContract):
        factory = "json:dumps"

        def selector(self) -> Dicing:
            return Dicing()

    class ASelectorOfTwo(SelectorContract):
        def selector(self) -> Never:
            return Never()

    red(ANosyMode().test_planning_looks_at_nothing_and_changes_nothing)
    red(ADicingSelector().test_it_looks_at_nothing_but_the_ballot)
    with pytest.raises(IndexError):
        ASelectorOfTwo().test_one_candidate_is_the_one()


# --- adapters


class Naive(ToyBench):
    """Takes whatever lies in the folder."""

    def task(self, id: str) -> Task:
        task = super().task(id)
        folder = task.files["inputs/toy.txt"].parent
        found = {f"inputs/{path.relative_to(folder)}": path for path in folder.rglob("*") if path.exists()}
        return evolve(task, files={key: path for key, path in found.items() if "odd\udcff" not in key})


HARMLESS = (
    "a link to nothing",
    "a link to itself",
    "a name that is no text",
    "a name with an escape",
    "a name of two lines",
)
"""For an adapter that passes over what it cannot read; names that act on a terminal are core's to show safely."""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets")
@pytest.mark.parametrize("how", [how for how in HOSTILE_INPUTS if how not in HARMLESS])
def test_an_adapter_that_takes_whatever_lies_there_is_caught(tmp_path: Path, how: str) -> None:
    adapter = Naive(tmp_path / "bench")
    (folder,) = {path.parent for path in adapter.task("d01/t0001").files.values()}

    class Request:
        def getfixturevalue(self, name: str) -> Adapter:
            return adapter

    rule = AdapterContract().test_a_hostile_folder_of_inputs_is_refused_or_does_no_harm
    (tmp_path / "room").mkdir()
    with pytest.raises(Exception):  # noqa: B017 - an assertion, or what the values themselves refuse
        rule(how, ("d01/t0001", folder), tmp_path / "room", Request())  # type: ignore[arg-type]


class Collecting(ToyBench):
    sealed = "state/grade.json"

    def collect(self, run: Path, task: Task) -> Collected:
        return Collected(True, {"answer.txt": run / "output/answer.txt"}, sealed={"grade.json": run / self.sealed})


class Leaking(Collecting):
    sealed = "output/answer.txt"


def test_what_is_sealed_and_delivered_at_once_is_caught(tmp_path: Path) -> None:
    for path in ("output/answer.txt", "state/grade.json"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x\n")
    rule, run = AdapterContract().test_what_is_sealed_is_not_delivered, ("d01/t0001", tmp_path)
    rule(Collecting(), run)
    red(lambda: rule(Leaking(), run))


# --- engines


class Forgetful:
    """Never reports work that ended in an error."""

    def __init__(self) -> None:
        self._inner = InlineEngine()

    def submit(self, call: Call, work: Assignment) -> Work:
        return self._inner.submit(call, work)

    def wait(self, seconds: float | None) -> Sequence[Work]:
        return [future for future in self._inner.wait(seconds) if future.exception() is None]

    def now(self) -> float:
        return self._inner.now()

    def cancel(self, request: Digest) -> None:
        pass

    def close(self) -> None:
        pass


class Strict(Forgetful):
    """Refuses at once what it cannot send away."""

    def submit(self, call: Call, work: Assignment) -> Work:
        if "<locals>" in getattr(call, "__qualname__", ""):
            raise TypeError("cannot pickle a local function")
        return Future()


def test_engines_that_lose_what_failed_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness2_core.testing.engine_contract.time.monotonic", iter(range(0, 10_000, 30)).__next__)
    forgetful: Engine = Forgetful()
    red(lambda: EngineContract().test_what_cannot_be_pickled_is_a_loss_like_any_other(forgetful))
    with pytest.raises(TypeError):
        EngineContract().test_a_call_that_cannot_be_pickled_runs_or_shows_in_its_future(Strict())


def test_a_pool_that_calls_the_dead_well_is_caught() -> None:
    class Apart(EngineContract):
        apart = True

    class Smiling(Forgetful):
        def submit(self, call: Call, work: Assignment) -> Work:
            future: Work = Future()
            future.set_result(finish(work))
            self._inner._done.append(future)
            return future

    red(lambda: Apart().test_a_worker_that_dies_is_a_loss_and_what_comes_after_it_is_reported(Smiling()))
