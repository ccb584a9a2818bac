"""What a program may write: who writes more is ended, by the kernel or by count, and who writes less is not."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from attrs import evolve

from harness2_core.api import Outcome
from harness2_core.model.process import Exit
from harness2_core.testing.workroom import WorkRoom
from harness2_core.work import process

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="files without a name are found in /proc"),
]

MANY = """
import os, time
os.mkdir("deep")
for number in range(2000):
    with open(f"deep/{number}", "wb") as file: file.write(bytes(1 << 20))
    time.sleep(0.002)
"""
NAMELESS = """
import os, time
held = []
for number in range(400):
    file = open("gone", "wb", buffering=0)
    os.unlink("gone")
    file.write(bytes(1 << 20))
    held.append(file)
    time.sleep(0.005)
time.sleep(60)
"""
DEEP = """
import os, time
for number in range(100):
    os.mkdir("d" * 99)
    os.chdir("d" * 99)
for number in range(400):
    with open(f"{number}", "wb") as file: file.write(bytes(1 << 20))
    time.sleep(0.005)
time.sleep(60)
"""


def run(code: str, tmp_path: Path, disk_mb: int, limit_seconds: float = 60) -> Exit:
    place = tmp_path / "place"
    place.mkdir()
    argv = (sys.executable, "-I", "-S", "-c", code)
    return process.run(
        argv, cwd=place, env={}, limit_seconds=limit_seconds, out=tmp_path / "out", disk_mb=disk_mb, written=(place,)
    )


@pytest.mark.parametrize(
    "code", [MANY, NAMELESS, DEEP], ids=["many files", "files without a name", "files deeper than a path is long"]
)
def test_who_writes_more_than_that_is_ended(code: str, tmp_path: Path) -> None:
    ended = run(code, tmp_path, 20)

    assert (ended.usage.exceeded, ended.timed_out) == ("disk", False)
    assert ended.signal == signal.SIGKILL


def test_no_file_grows_larger_than_that(tmp_path: Path) -> None:
    """At once, however fast it is written."""
    code = "file = open('one', 'wb', buffering=0)\nwhile True: file.write(bytes(1 << 16))"

    ended = run(code, tmp_path, 3)

    assert ended.code == 1
    assert "File too large" in ended.stderr.read_text()
    assert (tmp_path / "place" / "one").stat().st_size == 3 << 20


def test_who_writes_less_is_left_alone(tmp_path: Path) -> None:
    """A file with two names counts once, one that was removed not at all, and a link counts for itself."""
    code = """
import os, time
with open("big", "wb") as file: file.write(bytes(6 << 20))
for number in range(5): os.link("big", f"again{number}")
os.symlink("/usr", "far")
for _ in range(30):
    with open("short", "wb") as file: file.write(bytes(1 << 20))
    os.unlink("short")
    time.sleep(0.06)
print("well")
"""
    ended = run(code, tmp_path, 10)

    assert (ended.code, ended.stdout.read_text(), ended.usage.exceeded) == (0, "well\n", "")


def test_without_a_limit_nothing_is_counted(tmp_path: Path) -> None:
    code = "import time\nopen('big', 'wb').write(bytes(30 << 20))\ntime.sleep(0.8)\nprint('well')"

    assert run(code, tmp_path, 0).stdout.read_text() == "well\n"


def test_home_and_temporary_directory_count_with_the_workspace(room: WorkRoom) -> None:
    room.work = evolve(room.work, disk_mb=8)
    code = """
import os, pathlib, time
for place in (os.environ["HOME"], os.environ["TMPDIR"], "."):
    pathlib.Path(place, "part").write_bytes(bytes(4 << 20))
time.sleep(60)
"""
    record = room.rolled(code)

    assert record.outcome is Outcome.CRASHED
    assert "ended for going over its limit of disk" in record.note
