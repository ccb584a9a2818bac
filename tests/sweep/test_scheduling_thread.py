"""The thread that schedules reads no store, builds and renders nothing, and waits for nobody who listens."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import harness2_core
from harness2_core.sweep.scheduler import Scheduler

CORE = Path(harness2_core.__file__).parent

ITS_OWN = {
    "api/engine.py",  # the engine, and what its futures say
    "model/assignment.py",  # a value that is passed on
    "model/canonical.py",  # whether a reason can be written down
    "model/events.py",
    "model/frozen.py",
    "plugins/loading.py",  # whom an error of the engine is to be blamed on
    "model/requests.py",  # the kind of a request, for its event
    "sweep/blaming.py",
    "sweep/dataflow.py",
    "sweep/events.py",
    "sweep/graph.py",
    "sweep/paths.py",
    "sweep/preparers.py",
    "sweep/scheduler.py",
    "sweep/slots.py",
    "sweep/steps.py",
    "sweep/stop.py",
    "sweep/telling.py",
    "sweep/waiting.py",
}
"""Modules of core whose code may run on it."""

LOSES = """
    losses = 2

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            global losses
            if request.kind == "inv" and losses:
                losses -= 1
                raise Lost("rate-limit", "not now", wait_seconds=20)
            return super().run(request, workspace, ctx)
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Files of everything that is called on the thread while it schedules."""
    files: set[str] = set()

    def note(frame: FrameType, what: str, argument: object) -> None:
        if what == "call":
            files.add(frame.f_code.co_filename)

    schedule = Scheduler.run

    def watched(self: Scheduler[Any]) -> Any:
        sys.setprofile(note)
        try:
            return schedule(self)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(Scheduler, "run", watched)
    return files


def test_it_runs_nothing_of_core_but_scheduling_and_telling(bench: Any, ran: set[str]) -> None:
    bench.task("sums/second")
    bench.improver("losing", LOSES)

    result = bench.run(k=2, modes="parallel,sequential", max_rollouts=30, max_sessions=100, max_hours="5", slots=2)

    assert (result.paid.lost, result.exit_code) == (2, 0)
    assert {str(Path(name).relative_to(CORE)) for name in ran if Path(name).is_relative_to(CORE)} <= ITS_OWN


def test_it_calls_no_store_and_no_other_plugin_but_its_engine(bench: Any, ran: set[str]) -> None:
    bench.improver("losing", LOSES)

    bench.run(k=2)

    files = {name for name in ran if not name.startswith("<") and not Path(name).is_relative_to(CORE)}
    assert not any(part in name for name in files for part in ("harness2_", "jinja2", "json", "cattr"))
    assert "pocket_made.py" in {Path(name).name for name in files}  # the engine: what is called is heard of
