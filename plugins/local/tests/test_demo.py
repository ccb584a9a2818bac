"""`harness2 demo` as a user runs it: what it prints, what it pays, what it refuses, and how it is stopped."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness2_local.demo_config import MARK, write_config

from harness2_core.api import ConfigError
from harness2_core.sweep.run import Config

HARNESS2 = Path(sys.executable).with_name("harness2")
SMALL = ("--domains", "sensors", "--modes", "parallel,null", "--k", "1")
TASKS = ("sensors/cellar_week", "sensors/fell_autumn", "sensors/fell_spring", "sensors/mast_export")
ROLLOUTS = len(TASKS) * (1 + 3 + 3)  # bases, the parallel mode's and the control's
SESSIONS = len(TASKS) * (3 + 3 + 1)  # edits of both, and the parallel mode's reflection; of one final nobody picks

process = pytest.mark.process
together = pytest.mark.together


def harness2(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HARNESS2, *arguments], cwd=cwd, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder with a small demo in `harness2-demo`, and what it printed."""
    folder = tmp_path_factory.mktemp("small")
    return folder, harness2(folder, "demo", *SMALL)


@process
@together
def test_a_demo_prints_what_it_promises(small: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    done = small[1]
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Editor and agent are scripted")
    assert "No model" in done.stdout
    table = {line.split()[0]: line.split("%") for line in done.stdout.splitlines() if line.strip().startswith(TASKS)}
    assert set(table) == set(TASKS)
    assert [cell.strip() for cell in table["sensors/cellar_week"][:3]] == ["sensors/cellar_week  17", "100", "17"]
    assert "null (control)" in done.stdout
    assert "  parallel  4  +50.2       4     0      0" in done.stdout
    assert "  null      4   +0.0       0     4      0" in done.stdout
    assert "ungraded, and in no number above: nothing" in done.stdout
    assert "  +++ agg1/domain/sensors.toml" in done.stdout
    assert "  when: a series of the station Fell" in done.stdout
    assert f"paid: {ROLLOUTS} rollouts, {SESSIONS} sessions, 12 gradings; no model, so 0 USD" in done.stdout


@process
@together
def test_a_second_demo_pays_nothing_and_prints_the_same(
    small: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, first = small
    again = harness2(folder, "demo", *SMALL)
    assert again.returncode == 0
    assert "paid: nothing; everything was served from the store" in again.stdout
    unpaid = [[line for line in done.stdout.splitlines() if not line.startswith("paid")] for done in (first, again)]
    assert unpaid[0] == unpaid[1]


@process
@together
@pytest.mark.parametrize(("option", "live"), [((), True), (("--plain",), False)])
def test_whoever_looks_on_at_a_terminal_sees_the_live_view_or_asks_for_lines(
    tmp_path: Path, option: tuple[str, ...], live: bool
) -> None:
    small = ("--domains", "sensors", "--modes", "null", "--k", "1")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    command = [str(HARNESS2), "demo", *small, *option]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment) as demo:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        assert demo.stdout is not None
        report = demo.stdout.read()
    os.close(ours)
    assert demo.returncode == 0, shown
    assert b"null (control)" in report
    assert (b"\x1b[" in shown) is live
    assert (b"4 of 4  sensors/" in shown) is not live


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the last to write has closed it
        return b""


@process
@together
def test_what_to_try_next_works(small: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = small
    _, _, commands = done.stdout.partition("what to try next:\n")
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "harness2"
        tried = harness2(folder, *arguments)
        assert tried.returncode == 0, f"{command}: {tried.stderr}"
        assert tried.stdout.strip(), command
    assert len(commands.splitlines()) == 8


@process
@together
def test_the_report_for_machines_has_the_same_numbers(small: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    report = json.loads(harness2(small[0], "demo", *SMALL, "--json").stdout)
    assert report["model_took_part"] is False
    assert {score["task"] for score in report["scores"]} == set(TASKS)
    assert [(mode["name"], mode["control"], mode["n"]) for mode in report["modes"]] == [
        ("parallel", False, 4),
        ("null", True, 4),
    ]
    assert report["paid"] == {"rollouts": 0, "sessions": 0, "gradings": 0, "lost": 0}


@process
@together
def test_an_interrupted_demo_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with subprocess.Popen(
        [HARNESS2, "demo", *SMALL], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stderr is not None
            for line in running.stderr:
                if line.startswith("1 of 4"):
                    running.send_signal(signal.SIGINT)
                    break
            _, said = running.communicate(timeout=120)
        finally:
            running.kill()  # one that does not stop when asked must not hold up the tests
    assert running.returncode == 130
    assert "The same command goes on from here" in said
    again = harness2(tmp_path, "demo", *SMALL, "--json")
    assert again.returncode == 0
    report = json.loads(again.stdout)
    assert len(report["scores"]) == 2 * len(TASKS)
    assert report["paid"]["rollouts"] <= ROLLOUTS - 7


@process
@together
def test_where_no_sandbox_works_the_demo_says_so_and_a_run_of_ones_own_is_refused(tmp_path: Path) -> None:
    bare = {**os.environ, "PATH": str(HARNESS2.parent)}  # no bwrap there

    def typed(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HARNESS2, *arguments], cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=600
        )

    shown = typed("demo", "--domains", "sensors", "--modes", "null", "--k", "1")
    assert shown.returncode == 0, shown.stderr
    assert "without a sandbox (" in shown.stderr
    assert 'sandbox = "none"' in (tmp_path / "harness2-demo" / "harness2.toml").read_text()

    assert typed("demo", "--copy-to", "mine").returncode == 0
    refused = typed("--config", "mine/harness2.toml", "run")
    assert refused.returncode == 1
    assert "--sandbox none" in refused.stderr
    assert not (tmp_path / "mine" / "runs" / "adapt").exists()


@process
@together
def test_the_whole_demo_takes_a_minute_at_most(full_demo: Path) -> None:
    report = (full_demo.parent / "report.txt").read_text()
    assert (full_demo.parent / "code.txt").read_text() == "0", (full_demo.parent / "progress.txt").read_text()
    assert "score of what was delivered, 13 tasks, k = 2:" in report
    assert "paid: 338 rollouts, 262 sessions" in report
    assert float((full_demo.parent / "seconds.txt").read_text()) < 10 * 60  # ten times what it may take when left alone


@process
@together
def test_a_control_that_delivers_nothing_is_told_and_is_no_failure(full_demo: Path) -> None:
    report = (full_demo.parent / "report.txt").read_text()
    assert "null came to nothing on ledgers/giro_society, which counts as 0" in report


@process
@together
def test_copied_examples_run_with_their_own_configuration(tmp_path: Path) -> None:
    copied = harness2(tmp_path, "demo", "--copy-to", "mine")
    assert copied.returncode == 0, copied.stderr
    file = "mine/harness2.toml"
    assert f"harness2 --config {file} run" in copied.stdout
    planned = harness2(tmp_path, "--config", file, "plan")
    assert planned.returncode == 0, planned.stderr
    ran = harness2(tmp_path, "--config", file, "run", "--only-tasks", "weblogs/blog_week")
    assert ran.returncode == 0, ran.stderr
    judged = harness2(tmp_path, "--config", file, "judge", "--only-tasks", "weblogs/blog_week", "--json")
    assert [row["score"] for row in json.loads(judged.stdout)] == ["1"]


@process
@together
@pytest.mark.parametrize("option", ["--copy-to", "--to"])
def test_a_folder_of_somebody_is_left_alone(tmp_path: Path, option: str) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = harness2(tmp_path.parent, "demo", option, tmp_path.name)
    assert refused.returncode == 1
    assert "error: " in refused.stderr
    assert "exists already and is not" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@process
@together
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--domains", "sensor"), "the examples have no domain 'sensor'"),
        (("--modes", ","), "--modes names no mode"),
        (("--modes", "paralel"), "no mode is named 'paralel'"),
        (("--k", "0"), "Invalid value for '--k'"),
    ],
)
def test_a_choice_that_does_not_exist_is_an_error_before_anything_is_written(
    tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    refused = harness2(tmp_path, "demo", *arguments)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_configuration_says_what_was_asked_for_and_reads_back(tmp_path: Path) -> None:
    folder = tmp_path / 'a "quoted" name'
    file = write_config(folder, 3, ("sampling",), ("ledgers",))
    config = Config.load(file, {})
    values = {key: config.value("run", key) for key in ("k", "modes", "only_domains", "runs")}
    assert {key: given.value for key, given in values.items() if given is not None} == {
        "k": 3,
        "modes": ["sampling"],
        "only_domains": ["ledgers"],
        "runs": ".",
    }
    playbook = config.value("proposers.scripted", "playbooks")
    assert playbook is None  # a table of tables: its keys are values of their own
    assert write_config(folder, 1, ("null",), ()) == file
    assert file.read_text().startswith(MARK)


def test_a_configuration_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "harness2.toml").write_text("[run]\nk = 1\n")
    with pytest.raises(ConfigError, match="not of an earlier demo"):
        write_config(tmp_path, 1, ("parallel",), ())
    assert (tmp_path / "harness2.toml").read_text() == "[run]\nk = 1\n"
