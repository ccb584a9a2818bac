"""Nothing of the person who runs the tests is looked at, and the machine is one of our own; but for real agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_agents import programs


@pytest.fixture(autouse=True)
def _somewhere_else(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("agent") is not None:
        return  # those look for what is really there
    monkeypatch.setenv("HARNESS2_AGENTS_DIR", str(tmp_path / "agents"))
    monkeypatch.setattr(programs, "_machine", lambda: ("testos-test64", "test64-unknown-test"))
