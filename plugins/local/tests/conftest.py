"""The whole demo, run once for all processes of a test run: it is what the tests of examples and demo look at."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def full_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs directory of `harness2 demo`; beside it lie what it printed, its exit code and its seconds."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    shared = shared / "full-demo"
    with FileLock(f"{shared}.lock"):
        if not (shared / "report.txt").exists():
            shared.mkdir(exist_ok=True)
            began = time.monotonic()
            done = subprocess.run(
                [Path(sys.executable).with_name("harness2"), "demo", "--to", "demo"], cwd=shared, capture_output=True
            )
            (shared / "seconds.txt").write_text(str(time.monotonic() - began))
            (shared / "code.txt").write_text(str(done.returncode))
            (shared / "report.txt").write_bytes(done.stdout)
            (shared / "progress.txt").write_bytes(done.stderr)
    return shared / "demo"
