"""The real Claude Code, in a namespace without a network: where one of them is missing, tests skip and say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_agents.pinned import CLAUDE
from harness2_agents.programs import find

from harness2_core.api import ConfigError
from harness2_core.testing.offline import OfflineRoom, why_not


@pytest.fixture(scope="session")
def program() -> Path:
    """The program that `harness2 setup claude` brought, or one on PATH."""
    try:
        return find(CLAUDE).path
    except ConfigError as error:
        pytest.skip(f"{error.what}: {error.remedy}")


@pytest.fixture
def room(tmp_path: Path, program: Path) -> OfflineRoom:
    if why_not():
        pytest.skip(why_not())
    return OfflineRoom(tmp_path)


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    """A program that tells a version and does nothing else: enough where none is run."""
    path = tmp_path / "claude"
    path.write_text(f"#!/bin/sh\necho '{CLAUDE.version} (Claude Code)'\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
