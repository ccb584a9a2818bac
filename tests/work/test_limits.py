"""Memory and process limits, by each mechanism: what is over is ended, what is within is not, and nothing is left."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.model.errors import Lost
from harness2_core.model.process import Exit
from harness2_core.work import process
from harness2_core.work.supervision.cgroups import Home, homes, sweep

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="limits need Linux"),
]

WORK = Path(process.__file__).parent
PYTHON = (sys.executable, "-I", "-S", "-c")
Run = Callable[..., Exit]

DISARMED = """
import os, sys
sys.path.append({work!r})
import supervision.limits as limits
def refuse(*_): raise OSError("no control groups here")
limits.InCgroup = refuse
limits.os.geteuid = lambda: {user}
from supervision.serve import serve
sys.exit(serve(0, 1))
"""
"""A supervisor on a machine without control groups; as root, and as somebody who is not."""


@pytest.fixture(params=["cgroup", "rlimits", "counting"])
def mechanism(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "cgroup":
        if process.limits_in_force() != "cgroup":
            pytest.skip("no control group can be made on this machine")
        return name
    script = tmp_path / "disarmed.py"
    script.write_text(DISARMED.format(work=str(WORK), user=0 if name == "counting" else 1000))
    monkeypatch.setattr(process, "_SCRIPT", script)
    return name


@pytest.fixture
def grouped() -> None:
    if process.limits_in_force() != "cgroup":
        pytest.skip("no control group can be made on this machine")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*argv: str, **options: Any) -> Exit:
        given: dict[str, Any] = {
            "cwd": tmp_path,
            "env": {"PATH": "/usr/bin:/bin"},
            "limit_seconds": 60,
            "out": tmp_path / "out",
        }
        return process.run(argv, **(given | options))

    return run


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


HOLD = "import sys, time\nb = bytearray({mb} << 20)\nb[::4096] = b'x' * len(b[::4096])\n"


def test_a_program_over_its_memory_is_ended(run: Run, mechanism: str) -> None:
    ended = run(*PYTHON, HOLD.format(mb=400) + "time.sleep(30)", memory_mb=150)

    assert (ended.usage.exceeded, ended.usage.limits) == ("memory", mechanism)
    assert (ended.signal, ended.timed_out) == (signal.SIGKILL, False)


def test_memory_is_bounded_for_all_descendants_together(run: Run, mechanism: str) -> None:
    three = "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        break\nelse:\n"
    three += "    bad = sum(os.wait()[1] != 0 for _ in range(3)); os._exit(bad)\n"

    ended = run(*PYTHON, three + HOLD.format(mb=80) + "time.sleep(5)", memory_mb=150)

    assert ended.usage.exceeded == "memory"
    assert ended.code != 0


def test_memory_that_forked_processes_share_is_counted_once(run: Run, mechanism: str) -> None:
    sharing = "import os\npids = []\nfor _ in range(4):\n    pids.append(os.fork())\n"
    sharing += "    if pids[-1] == 0: time.sleep(1); os._exit(0)\n"
    sharing += "for pid in pids: os.waitpid(pid, 0)\n"

    ended = run(*PYTHON, HOLD.format(mb=80) + sharing, memory_mb=150)

    assert (ended.code, ended.usage.exceeded) == (0, "")


FORKS = """
import os, sys, time
pids = []
for _ in range({count}):
    try:
        pids.append(os.fork())
    except OSError:
        sys.exit(9)
    if pids[-1] == 0:
        time.sleep(60)
        os._exit(0)
    time.sleep(0.005)
time.sleep(0.5)
"""


def test_a_program_with_too_many_processes_is_ended(run: Run, mechanism: str) -> None:
    ended = run(*PYTHON, FORKS.format(count=60), processes=20)

    assert (ended.usage.exceeded, ended.usage.limits) == ("processes", mechanism)
    assert ended.code == 9 or ended.signal == signal.SIGKILL


def test_threads_count_as_processes(run: Run, mechanism: str) -> None:
    threads = (
        "import threading, time\nfor _ in range(60): threading.Thread(target=time.sleep, args=(2,)).start()\n"
        "time.sleep(0.5)"
    )

    assert run(*PYTHON, threads, processes=20).usage.exceeded == "processes"


def test_a_program_within_its_limits_is_left_alone(run: Run, mechanism: str) -> None:
    ended = run(*PYTHON, HOLD.format(mb=50) + FORKS.format(count=5), memory_mb=400, processes=20)

    assert (ended.code, ended.usage.exceeded, ended.usage.limits) == (0, "", mechanism)
    assert ended.usage.left_behind == 5


@pytest.mark.usefixtures("grouped")
def test_a_limit_that_was_met_but_did_no_harm_is_not_named(run: Run) -> None:
    ended = run(*PYTHON, FORKS.format(count=60).replace("sys.exit(9)", "sys.exit(0)"), processes=20)

    assert (ended.code, ended.usage.exceeded) == (0, "")


def test_without_limits_nothing_is_enforced(run: Run) -> None:
    assert run("/bin/true").usage.limits == "none"


# --- control groups -----------------------------------------------------------------------------------------------


def own_groups(text: str) -> list[Path]:
    """The directories, as we see them, of the groups that a program printed from its /proc/self/cgroup."""
    wanted = frozenset({"memory", "pids"})
    mounts = Path("/proc/self/mountinfo").read_text()
    ours = {home.path for home in homes(wanted, Path("/proc/self/cgroup").read_text(), mounts)}
    names = {part for line in text.splitlines() for part in line.split("/") if part.startswith("harness2-")}
    return [Path(home) / name for home in ours for name in names]


@pytest.mark.usefixtures("grouped")
def test_groups_are_removed_with_what_the_program_made_in_them(run: Run) -> None:
    ended = run("/bin/cat", "/proc/self/cgroup", memory_mb=100, processes=10)

    assert own_groups(ended.stdout.read_text())
    assert not any(path.exists() for path in own_groups(ended.stdout.read_text()))


@pytest.mark.usefixtures("grouped")
def test_a_group_is_never_outside_our_own(run: Run) -> None:
    ended = run("/bin/cat", "/proc/self/cgroup", memory_mb=100)

    ours = next(
        line for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line or "::" in line
    )
    theirs = next(line for line in ended.stdout.read_text().splitlines() if "harness2-" in line)
    assert theirs.rpartition("/")[0].rstrip("/") == ours.rstrip("/")


@pytest.mark.usefixtures("grouped")
def test_what_a_killed_supervisor_left_is_swept_by_a_later_one(run: Run, tmp_path: Path) -> None:
    left = "setsid sh -c 'cat /proc/self/cgroup > groups; echo $$ > left.pid; exec sleep 300' &"
    wait = "while ! [ -s left.pid ]; do sleep 0.05; done; kill -KILL $PPID; sleep 300"
    with pytest.raises(Lost):
        run("/bin/sh", "-c", f"{left} {wait}", memory_mb=100, processes=10)
    orphan = int((tmp_path / "left.pid").read_text())
    groups = [path for path in own_groups((tmp_path / "groups").read_text()) if path.exists()]
    assert groups
    assert alive(orphan)

    run("/bin/true", memory_mb=100, processes=10)

    deadline = time.monotonic() + 20
    while alive(orphan) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(orphan)
    assert not any(path.exists() for path in groups)


@pytest.mark.usefixtures("grouped")
def test_a_sweep_spares_groups_whose_supervisor_lives(run: Run, tmp_path: Path) -> None:
    def sweep_all() -> bool:
        if (tmp_path / "groups").exists():
            for path in own_groups((tmp_path / "groups").read_text()):
                sweep(str(path.parent))
        return False

    ended = run("/bin/sh", "-c", "cat /proc/self/cgroup > groups; sleep 1; exit 4", memory_mb=100, cancelled=sweep_all)

    assert ended.code == 4


def test_a_sweep_leaves_directories_of_others_alone(tmp_path: Path) -> None:
    (tmp_path / "somebody.slice").mkdir()
    (tmp_path / "harness2-1-ab").mkdir()

    sweep(str(tmp_path))

    assert [path.name for path in tmp_path.iterdir()] == ["somebody.slice"]


BOTH = frozenset({"memory", "pids"})


def described(found: list[Home]) -> list[tuple[str, int, list[str]]]:
    return [(home.path, home.version, sorted(home.controllers)) for home in found]


def test_version_1_groups_are_found_below_our_own(tmp_path: Path) -> None:
    (tmp_path / "memory" / "job" / "me").mkdir(parents=True)
    (tmp_path / "pids").mkdir()
    membership = "9:name=systemd:/\n8:pids:/\n4:memory:/job/me\n0::/\n"
    mounts = (
        f"35 31 0:32 / {tmp_path}/memory rw,relatime - cgroup cgroup rw,memory\n"
        f"39 31 0:36 / {tmp_path}/pids rw,relatime shared:4 - cgroup cgroup rw,pids\n"
        f"1 1 0:1 / / rw - ext4 /dev/x rw\n"
    )

    assert described(homes(BOTH, membership, mounts)) == [
        (f"{tmp_path}/memory/job/me", 1, ["memory"]),
        (f"{tmp_path}/pids", 1, ["pids"]),
    ]


def test_a_mount_that_shows_a_part_of_the_hierarchy_is_understood(tmp_path: Path) -> None:
    membership = "4:memory:/docker/abc\n"
    mount = f"35 31 0:32 {{}} {tmp_path} rw - cgroup cgroup rw,memory\n"

    assert described(homes(frozenset({"memory"}), membership, mount.format("/docker/abc"))) == [
        (str(tmp_path), 1, ["memory"])
    ]
    assert homes(frozenset({"memory"}), membership, mount.format("/docker/ab")) == []


def version_2(root: Path, control: str, **limits: str) -> list[tuple[str, int, list[str]]]:
    (root / "app" / "me").mkdir(parents=True)
    (root / "app" / "cgroup.subtree_control").write_text(control)
    for name, value in ({"memory.max": "max", "pids.max": "max"} | limits).items():
        (root / "app" / "me" / name).write_text(value + "\n")
    mounts = f"41 31 0:38 / {root} rw - cgroup2 cgroup2 rw,nsdelegate\n"
    return described(homes(BOTH, "0::/app/me\n", mounts))


def test_version_2_groups_are_made_beside_our_own_where_that_is_delegated(tmp_path: Path) -> None:
    assert version_2(tmp_path, "cpu memory pids\n") == [(f"{tmp_path}/app", 2, ["memory", "pids"])]


def test_version_2_groups_are_not_made_where_a_controller_is_missing(tmp_path: Path) -> None:
    assert version_2(tmp_path, "cpu pids\n") == []


def test_nobody_leaves_a_version_2_group_that_has_a_limit(tmp_path: Path) -> None:
    assert version_2(tmp_path, "cpu memory pids\n", **{"memory.max": "1000000"}) == []


# --- without a subreaper ------------------------------------------------------------------------------------------

GROUPED = """
import sys
sys.path.append({work!r})
import supervision.family as family, supervision.serve as serve
family.prctl = lambda *_: None
serve.family_of = family.Group
sys.exit(serve.serve(0, 1))
"""


@pytest.fixture
def no_subreaper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "grouped.py"
    script.write_text(GROUPED.format(work=str(WORK)))
    monkeypatch.setattr(process, "_SCRIPT", script)


@pytest.mark.usefixtures("no_subreaper")
def test_without_a_subreaper_the_group_is_ended_when_time_is_up(run: Run, tmp_path: Path) -> None:
    ended = run(
        "/bin/sh",
        "-c",
        "sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 1; done' & exec sleep 300",
        limit_seconds=1,
        grace_seconds=0.2,
    )

    assert (ended.timed_out, ended.usage.left_behind) == (True, 1)
    assert not alive(int((tmp_path / "a.pid").read_text()))


@pytest.mark.usefixtures("no_subreaper")
def test_without_a_subreaper_what_the_program_left_in_its_group_is_ended(run: Run, tmp_path: Path) -> None:
    ended = run("/bin/sh", "-c", "sh -c 'echo $$ > a.pid; exec sleep 300' & while ! [ -s a.pid ]; do :; done; exit 6")

    assert (ended.code, ended.usage.left_behind) == (6, 1)
    assert not alive(int((tmp_path / "a.pid").read_text()))
