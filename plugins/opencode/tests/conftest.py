"""The real OpenCode, in a namespace without a network; its tests are skipped, with the reason, where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness2_opencode.settings import OpencodeSettings
from harness2_opencode.substrate import Opencode

from harness2_core.testing.offline import OfflineRoom, why_not


@pytest.fixture(scope="session")
def lacking() -> str:
    """What the real OpenCode lacks here, in words; empty when it runs."""
    return "; ".join(Opencode().preflight()) or why_not()


@pytest.fixture
def room(tmp_path: Path, lacking: str) -> OfflineRoom:
    if lacking:
        pytest.skip(lacking)
    return OfflineRoom(tmp_path)


@pytest.fixture
def standing_in(tmp_path: Path) -> OpencodeSettings:
    """Settings that name programs which tell a version and do nothing else."""
    for name in ("opencode", "rg"):
        (tmp_path / name).write_text("#!/bin/sh\necho 1.18.33\n")
        (tmp_path / name).chmod(0o755)
    return OpencodeSettings(binary=str(tmp_path / "opencode"), ripgrep=str(tmp_path / "rg"))
