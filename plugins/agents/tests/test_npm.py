"""Setting up an agent: with an npm of our own that does what the real one does, or fails as it does."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from attrs import evolve
from harness2_agents import npm
from harness2_agents.npm import set_up, told
from harness2_agents.programs import Package, agents_directory, find

from harness2_core.api import ConfigError

pytestmark = pytest.mark.process

PACKAGE = Package("@maker/toyagent", "2.0.0", "toyagent", ("@maker/toyagent-{platform}/bin/toyagent",), "1.5.0", 5)
MACHINE = ("testos-test64", "test64-unknown-test")

Play: TypeAlias = Callable[[str], None]

INSTALLS = f"""\
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
bin="$prefix/node_modules/@maker/toyagent-{MACHINE[0]}/bin"
mkdir -p "$bin"
printf '#!/bin/sh\\necho toyagent 2.0.0\\n' > "$bin/toyagent"
head -c 1100000 /dev/zero | tr '\\0' '#' >> "$bin/toyagent"
chmod +x "$bin/toyagent"
"""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def play(tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Puts an npm on PATH that does what is given."""

    def put(script: str) -> None:
        path = tmp_path / "bin" / "npm"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho \"$@\" >> '{calls}'\n{script}", encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.defpath}")

    return put


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def left(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != ".lock")


def test_it_is_installed_at_the_pinned_version_and_found_there(play: Play, calls: Path) -> None:
    play(INSTALLS)
    program = set_up(PACKAGE)
    assert program.version == "2.0.0"
    assert find(PACKAGE) == program
    assert program.path.is_relative_to(agents_directory())
    [call] = lines(calls)
    assert call.startswith("install --no-audit --no-fund --ignore-scripts --prefix ")
    assert call.endswith(" @maker/toyagent@2.0.0")
    assert left(agents_directory() / "toyagent") == ["2.0.0"]


def test_a_second_call_does_nothing(play: Play, calls: Path) -> None:
    play(INSTALLS)
    assert set_up(PACKAGE) == set_up(PACKAGE)
    assert len(lines(calls)) == 1


def test_a_directory_of_ones_own_gets_it_and_the_words_say_how_to_use_it(play: Play, tmp_path: Path) -> None:
    play(INSTALLS)
    program = set_up(PACKAGE, tmp_path / "mine")
    assert program.path.is_relative_to(tmp_path / "mine")
    assert str(program.path) in told(PACKAGE, program, tmp_path / "mine")
    assert f"HARNESS2_AGENTS_DIR={tmp_path / 'mine'}" in told(PACKAGE, program, tmp_path / "mine")


def test_an_odd_directory_is_told_so_that_it_can_be_copied(play: Play, tmp_path: Path) -> None:
    play(INSTALLS)
    odd = tmp_path / 'my "agents" of $HOME\n'
    program = set_up(PACKAGE, odd)
    said = told(PACKAGE, program, odd)
    assert tomllib.loads("[substrates" + said.partition("[substrates")[2])["substrates"][PACKAGE.program] == {
        "binary": str(program.path)
    }
    assert f"HARNESS2_AGENTS_DIR={shlex.quote(str(odd))}" in said


@pytest.mark.parametrize("to", ["x" * 300, "~nobody-of-this-name/" + "x" * 300])
def test_a_directory_that_cannot_be_is_told(tmp_path: Path, to: str) -> None:
    with pytest.raises(ConfigError, match="--to DIR"):
        set_up(PACKAGE, tmp_path / to if to[0] == "x" else Path(to))


def test_two_at_once_install_it_once(play: Play, calls: Path) -> None:
    play("sleep 1\n" + INSTALLS)
    program = (
        "from harness2_agents import programs\n"
        f"programs._machine = lambda: {MACHINE!r}\n"
        "from harness2_agents.npm import set_up\n"
        "from harness2_agents.programs import Package\n"
        f"set_up(Package({PACKAGE.npm!r}, '2.0.0', 'toyagent', {PACKAGE.natives!r}))\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert len(lines(calls)) == 1


def test_one_that_was_killed_in_the_middle_is_no_installation(play: Play, calls: Path) -> None:
    play(f"echo $$ > '{calls.parent}/npm.pid'\n{INSTALLS}sleep 600\n")
    program = (
        "from harness2_agents import programs\n"
        f"programs._machine = lambda: {MACHINE!r}\n"
        "from harness2_agents.npm import set_up\n"
        "from harness2_agents.programs import Package\n"
        f"set_up(Package({PACKAGE.npm!r}, '2.0.0', 'toyagent', {PACKAGE.natives!r}))\n"
    )
    first = subprocess.Popen([sys.executable, "-c", program])
    until(lambda: any((agents_directory() / "toyagent").glob(".part-*/node_modules/@maker/*/bin/toyagent")))
    first.kill()
    first.wait()
    os.killpg(int((calls.parent / "npm.pid").read_text()), signal.SIGKILL)
    with pytest.raises(ConfigError):
        find(PACKAGE)
    play(INSTALLS)
    assert set_up(PACKAGE).version == "2.0.0"
    assert left(agents_directory() / "toyagent") == ["2.0.0"]


def test_one_that_is_interrupted_leaves_neither_npm_nor_anything_half_done(play: Play, calls: Path) -> None:
    pid = calls.parent / "npm.pid"
    play(f"{INSTALLS}echo $$ > '{pid}'\nsleep 600\n")
    program = (
        "from harness2_agents import programs\n"
        f"programs._machine = lambda: {MACHINE!r}\n"
        "from harness2_agents.npm import set_up\n"
        "from harness2_agents.programs import Package\n"
        f"set_up(Package({PACKAGE.npm!r}, '2.0.0', 'toyagent', {PACKAGE.natives!r}))\n"
    )
    first = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    until(lambda: pid.exists() and pid.read_text().strip() != "")
    first.send_signal(signal.SIGINT)
    assert first.wait(timeout=60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert left(agents_directory() / "toyagent") == []


def test_an_installation_without_its_mark_is_made_anew(play: Play, calls: Path) -> None:
    play(INSTALLS)
    program = set_up(PACKAGE)
    (agents_directory() / "toyagent" / "2.0.0" / "harness2-setup.json").unlink()
    assert set_up(PACKAGE) == program
    assert len(lines(calls)) == 2
    assert left(agents_directory() / "toyagent") == ["2.0.0"]


def test_without_npm_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no npm on PATH") as caught:
        set_up(PACKAGE, npm="npm-that-is-nowhere")
    assert "Node.js" in caught.value.remedy
    assert "substrates.toyagent.binary" in caught.value.remedy


def test_without_a_network_npms_own_last_words_are_shown(play: Play) -> None:
    play(
        "echo 'npm warn old' >&2; echo 'npm error code ENOTFOUND' >&2\n"
        "echo 'npm error request to https://name:canary-secret@registry.invalid/x failed' >&2\n"
        "echo 'npm error A complete log of this run can be found in: /somewhere/x-debug-0.log' >&2; exit 1\n"
    )
    with pytest.raises(ConfigError) as caught:
        set_up(PACKAGE)
    assert "npm error code ENOTFOUND" in caught.value.what
    assert "canary-secret" not in caught.value.what
    assert "complete log" not in caught.value.what
    assert "network" in caught.value.remedy
    assert left(agents_directory() / "toyagent") == []


def test_a_disk_that_fills_up_is_told_as_that(play: Play) -> None:
    play("echo 'npm error code ENOSPC' >&2; exit 1\n")
    with pytest.raises(ConfigError) as caught:
        set_up(PACKAGE)
    assert "make room" in caught.value.remedy


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(play: Play, calls: Path) -> None:
    play(INSTALLS)
    with pytest.raises(ConfigError, match="MB are free"):
        set_up(evolve(PACKAGE, megabytes=10**9))
    assert lines(calls) == []


def test_an_installation_without_a_program_for_this_machine_is_told(play: Play) -> None:
    play("exit 0\n")
    with pytest.raises(ConfigError, match="nothing in it runs on this machine"):
        set_up(PACKAGE)
    assert left(agents_directory() / "toyagent") == []


def test_an_npm_that_never_ends_is_ended(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "MINUTES", 0.01)
    play("sleep 600 & sleep 600\n")
    with pytest.raises(ConfigError, match="did not install"):
        set_up(PACKAGE)
    assert left(agents_directory() / "toyagent") == []


def test_who_interrupts_a_set_up_is_not_told_of_a_process_that_has_just_ended(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(process: subprocess.Popen[bytes], timeout: float) -> tuple[bytes, bytes]:
        process.wait()
        raise KeyboardInterrupt

    play("exit 0\n")
    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        set_up(PACKAGE)
    assert left(agents_directory() / "toyagent") == []


def test_a_directory_that_is_a_file_is_told(play: Play, tmp_path: Path) -> None:
    play(INSTALLS)
    (tmp_path / "taken").write_text("x")
    with pytest.raises(ConfigError) as caught:
        set_up(PACKAGE, tmp_path / "taken")
    assert "--to DIR" in caught.value.remedy


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
