"""The real Codex, in a namespace without a network; its tests are skipped, with the reason, where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_agents.pinned import CODEX
from harness2_agents.programs import find
from harness2_codex.settings import CodexSettings

from harness2_core.api import ConfigError
from harness2_core.testing.offline import OfflineRoom, why_not


@pytest.fixture(scope="session")
def program() -> Path:
    """The program that `harness2 setup codex` brought, or one on PATH."""
    try:
        return find(CODEX).path
    except ConfigError as error:
        pytest.skip(f"{error.what}: {error.remedy}")


@pytest.fixture
def room(tmp_path: Path, program: Path) -> OfflineRoom:
    assert program
    if why_not():
        pytest.skip(why_not())
    return OfflineRoom(tmp_path)


@pytest.fixture
def standing_in(tmp_path: Path) -> CodexSettings:
    """Settings that name a program which tells a version and does nothing else."""
    path = tmp_path / "codex"
    path.write_text("#!/bin/sh\necho codex-cli 0.171.0\n")
    path.chmod(0o755)
    return CodexSettings(str(path))
