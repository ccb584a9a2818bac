"""`run_harness2`: what it gives back, and that it notices whatever a call leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness2_core.testing import Harness2Home, RunHarness2
from harness2_core.testing.family import Family
from harness2_core.testing.observing import Observed

both = pytest.mark.parametrize(
    "process", [False, pytest.param(True, marks=pytest.mark.process)], ids=["in this process", "in its own"]
)

BAD = """
    import os, random, subprocess, sys, tempfile
    from pathlib import Path

    def writes_outside(): Path(os.environ["ZZ_TARGET"]).write_text("x")
    def makes_a_directory_outside(): Path(os.environ["ZZ_TARGET"]).mkdir()
    def moves_a_file_outside():
        Path("mine").write_text("x")
        os.rename("mine", os.environ["ZZ_TARGET"])
    def climbs_outside(): Path("..", "..", "zz-climbed").write_text("x")
    def lets_a_program_write_outside():
        subprocess.run(["sh", "-c", 'echo x > "$0"', os.environ["ZZ_TARGET"]], check=True)
    def lets_a_program_change_what_is_there():
        subprocess.run(["sh", "-c", 'echo x >> "$0"/bad.txt', os.environ["ZZ_THERE"]], check=True)
    def sets_a_variable(): os.environ["ZZ_LEFT"] = "1"
    def changes_the_directory(): os.chdir("/")
    def uses_the_global_generator(): random.random()
    def leaves_a_process(): print(subprocess.Popen(["sleep", "60"]).pid)
    def leaves_an_orphan():
        program = "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)"
        subprocess.run([sys.executable, "-c", program])
    def writes_a_secret(): Path("notes.txt").write_text(f"key: {os.environ['OPENAI_API_KEY']}")
    def prints_a_secret(): print(os.environ["ANTHROPIC_API_KEY"])
    def is_quiet():
        Path("notes.txt").write_text("x")
        with tempfile.NamedTemporaryFile() as file: file.write(b"x")
        subprocess.run(["true"])
        print("done")
        print("noted", file=sys.stderr)
"""

PLUGIN = """
    import zz_bad_work
    from harness2_core.api import Provider, hookimpl

    def make():
        def command(what: str) -> None:
            "Do something."
            getattr(zz_bad_work, what)()
        return command

    @hookimpl
    def harness2_commands():
        return [Provider("zz-do", "does something", "zz_bad:make")]
"""


@pytest.fixture
def does(distributions: object, run_harness2: RunHarness2, tmp_path: Path) -> Callable[..., object]:
    """Runs the command of an invented plugin, which does what it is told."""
    distributions.add("zz-bad", {"command.zz-do": "zz_bad"}, {"zz_bad.py": PLUGIN, "zz_bad_work.py": BAD})  # type: ignore[attr-defined]

    (tmp_path / "zz-there").mkdir()
    (tmp_path / "zz-there" / "bad.txt").write_text("mine\n")

    def do(what: str, process: bool) -> object:
        places = {"ZZ_TARGET": str(tmp_path / "zz-target"), "ZZ_THERE": str(tmp_path / "zz-there")}
        return run_harness2("zz-do", what, process=process, env=places)

    return do


@both
def test_a_call_gives_its_code_and_what_it_printed(run_harness2: RunHarness2, process: bool) -> None:
    listed = run_harness2("plugins", "list", "--json", process=process)
    refused = run_harness2("plugins", "show", "no-such-plugin", process=process)

    assert (listed.code, isinstance(listed.json, list), listed.err) == (0, True, "")
    assert (refused.code, refused.out) == (1, "")
    assert "no-such-plugin" in refused.err


@both
def test_a_call_that_leaves_nothing_behind_passes(does: Callable[..., object], process: bool) -> None:
    ran = does("is_quiet", process)
    assert (getattr(ran, "out", ""), getattr(ran, "err", "")) == ("done\n", "noted\n")


@both
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("writes_outside", "wrote outside its home: .*zz-target"),
        ("makes_a_directory_outside", "wrote outside its home: .*zz-target"),
        ("moves_a_file_outside", "wrote outside its home: .*zz-target"),
        ("climbs_outside", "wrote outside its home: .*zz-climbed"),
        ("lets_a_program_write_outside", "wrote outside its home: .*zz-target"),
        ("lets_a_program_change_what_is_there", r"wrote outside its home: .*zz-there/bad\.txt"),
        ("sets_a_variable", "changed the variable ZZ_LEFT"),
        ("changes_the_directory", "changed the current directory"),
        ("uses_the_global_generator", "changed the global random generator"),
        ("writes_a_secret", r"wrote down a secret: .*notes\.txt"),
        ("prints_a_secret", "wrote down a secret: output"),
    ],
)
def test_what_a_call_leaves_behind_is_noticed(
    does: Callable[..., object], monkeypatch: pytest.MonkeyPatch, what: str, says: str, process: bool
) -> None:
    monkeypatch.setenv("ZZ_LEFT", "0")  # so that it is put back
    with pytest.raises(AssertionError, match=says):
        does(what, process)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
@pytest.mark.parametrize("what", ["leaves_a_process", "leaves_an_orphan"])
@both
def test_a_process_left_behind_is_noticed_and_ended(
    does: Callable[..., object], monkeypatch: pytest.MonkeyPatch, what: str, process: bool
) -> None:
    monkeypatch.setattr("harness2_core.testing.family._PATIENCE_SECONDS", 0.3)
    with pytest.raises(AssertionError, match=r"left processes behind: (\d+) sleep 60") as raised:
        does(what, process)
    pid = int(str(raised.value).split("behind: ")[1].split()[0])
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_processes_that_were_there_before_are_let_alone() -> None:
    with subprocess.Popen(["sleep", "60"]) as mine:
        with Family() as family:
            ended = subprocess.Popen(["sleep", "0.05"])  # ends while it is waited for
        assert (family.left, mine.poll()) == ([], None)
        ended.wait()
        mine.kill()


def test_a_write_through_a_link_is_seen_where_it_lands(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home" / "link").symlink_to(tmp_path / "elsewhere")

    with Observed([tmp_path / "home"]) as observed:
        (tmp_path / "home" / "link" / "file").write_text("x")
        (tmp_path / "home" / "file").write_text("x")

    assert observed.writes == [str(tmp_path / "elsewhere" / "file")]


def test_a_write_below_a_descriptor_is_seen_where_it_lands(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    folder = os.open(tmp_path, os.O_RDONLY)

    with Observed([tmp_path / "home"]) as observed:
        os.mkdir("made", dir_fd=folder)
        os.mkdir("home/made", dir_fd=folder)

    os.close(folder)
    assert observed.writes == [str(tmp_path / "made")]


def test_reading_is_no_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with Observed([]) as observed:
        (tmp_path / "file").read_text()
        list(tmp_path.iterdir())
    assert (observed.writes, observed.changes) == ([], [])


def test_a_handler_that_stays_is_a_change() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Observed([]) as observed:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, before)
    assert observed.changes == ["the handler of SIGTERM"]


def test_the_home_is_all_that_a_test_sees(harness2_home: Harness2Home) -> None:
    import tempfile

    assert Path.home() == harness2_home.home
    assert Path.cwd() == harness2_home.work
    assert Path(tempfile.gettempdir()) == harness2_home.temp
    assert os.environ["OPENAI_API_KEY"] == harness2_home.canary
    assert not [name for name in os.environ if name.startswith("HARNESS2_")]


def test_a_secret_is_found_in_contents_and_in_names(harness2_home: Harness2Home) -> None:
    named = harness2_home.work / harness2_home.canary
    named.write_text("x")
    (harness2_home.temp / "blob").write_bytes(b"\xff\x00" + harness2_home.canary.encode())
    assert harness2_home.tells("said") == [str(harness2_home.temp / "blob"), str(named)]


@pytest.mark.process
def test_a_call_that_takes_too_long_ends_and_leaves_nothing(distributions: object, run_harness2: RunHarness2) -> None:
    slow = PLUGIN.replace("getattr(zz_bad_work, what)()", "import time; time.sleep(60)").replace("zz_bad", "zz_slow")
    distributions.add("zz-slow", {"command.zz-do": "zz_slow"}, {"zz_slow.py": slow, "zz_slow_work.py": ""})  # type: ignore[attr-defined]
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run_harness2("zz-do", "x", process=True, limit_seconds=3)
    assert time.monotonic() - begun < 50


@pytest.mark.process
@pytest.mark.together
def test_a_whole_sweep_leaves_nothing_behind(run_harness2: RunHarness2) -> None:
    """Agents, judges, store, library: everything lies in the runs directory, and nothing else has happened."""
    config = Path(__file__).resolve().parent.parent.parent / "examples" / "own-tasks.toml"
    runs = run_harness2.home.work / "runs"

    ran = run_harness2("--config", str(config), "run", "--runs", str(runs), process=True)
    judged = run_harness2("--config", str(config), "judge", "--bases", "--json", "--runs", str(runs))

    assert (ran.code, judged.code) == (0, 0), ran.err + judged.err
    assert [row["score"] for row in judged.json] == ["0", "1"]  # type: ignore[attr-defined]
    assert (runs / "library").is_dir()
