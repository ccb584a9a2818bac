"""Nothing of the person who runs the tests is looked at, and the machine is one of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_agents import programs


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS2_AGENTS_DIR", str(tmp_path / "agents"))
    monkeypatch.setattr(programs, "_machine", lambda: ("testos-test64", "test64-unknown-test"))
