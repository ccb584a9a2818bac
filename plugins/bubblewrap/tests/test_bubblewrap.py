"""The contract of sandboxes, and what is bubblewrap's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness2_bubblewrap.bubblewrap import Bubblewrap
from harness2_bubblewrap.settings import Settings

from harness2_core.api import ConfigError, FrozenMap, Mount, Place, Policy
from harness2_core.testing.sandbox_contract import SandboxContract
from harness2_core.testing.sandbox_room import Room, make_room, said

pytestmark = pytest.mark.process
PLACE = Place("/workspace", "/home/agent", "/workspace/output")


class TestBubblewrap(SandboxContract):
    @pytest.fixture
    def sandbox(self) -> Bubblewrap:
        return Bubblewrap()


@pytest.fixture
def room(tmp_path: Path) -> Room:
    sandbox = Bubblewrap()
    if sandbox.works():
        pytest.skip(sandbox.works())
    return make_room(sandbox, tmp_path)


def test_it_works_wherever_bwrap_does() -> None:
    """Or else every other test here would be skipped, whatever was broken."""
    plain = "bwrap --ro-bind / / --proc /proc --dev /dev --unshare-pid --unshare-net --unshare-ipc --unshare-uts true"
    if shutil.which("bwrap") is None or subprocess.run(plain.split(), check=False).returncode != 0:
        pytest.skip("bwrap is missing or may not make namespaces here")

    assert Bubblewrap().works() == ""


def test_a_program_finds_itself_in_the_list_of_users(room: Room) -> None:
    seen = said(
        room.inside("import os, pwd, socket; u = pwd.getpwuid(os.getuid()); print(u.pw_dir, socket.gethostname())")
    )

    assert seen == "/home/agent sandbox\n"


def test_the_machines_users_and_names_are_not_told(room: Room) -> None:
    names = ("/etc/shadow", "/etc/hostname", "/etc/machine-id", "/etc/resolv.conf", "/etc/ssl/private")
    told = f"import os\nfor name in {names}:\n"
    told += "    if os.path.exists(name): print(name)\nprint(len(open('/etc/passwd').readlines()) <= 3)\n"

    assert said(room.inside(told)) == "True\n"


def test_name_resolution_is_there_with_the_network(room: Room) -> None:
    seen = said(room.run("/bin/cat", "/etc/resolv.conf", network="open"))

    assert seen == Path("/etc/resolv.conf").read_text()


def test_no_descriptor_but_the_streams_gets_in(room: Room) -> None:
    assert said(room.inside("import os; print(len(os.listdir('/proc/self/fd')))")) == "4\n"  # one is the listing itself


def test_no_capability_is_left(room: Room) -> None:
    seen = said(room.run("/bin/grep", "-E", "^Cap(Eff|Prm|Inh|Amb)|^NoNewPrivs", "/proc/self/status"))

    assert {line.split()[1].lstrip("0") for line in seen.splitlines()} == {"", "1"}


def test_paths_of_the_settings_can_be_read_and_not_written(room: Room, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.mkdir()
    (tool / "data").write_text("tool\n")
    granting = Room(Bubblewrap(Settings(reads=(str(tool),))), room.root)

    assert said(granting.run("/bin/cat", f"{tool}/data")) == "tool\n"
    assert granting.run("/bin/sh", "-c", f": > {tool}/data").code != 0


def test_what_the_policy_says_of_a_path_counts_more_than_the_settings(tmp_path: Path) -> None:
    sandbox = Bubblewrap(Settings(binary=sys.executable, reads=(str(tmp_path),)))

    argv = sandbox.wrap(("x",), Policy(FrozenMap({str(tmp_path): Mount(tmp_path, True)}), "none"), PLACE)

    assert [argv[i - 1] for i, part in enumerate(argv) if part == str(tmp_path)] == ["--bind", str(tmp_path)]


def test_an_undecidable_place_for_a_mount_is_refused(tmp_path: Path) -> None:
    sandbox = Bubblewrap(Settings(binary=sys.executable))
    for path in ("relative", "/a/../b", "/a//b", "/a/", "/a\0b"):
        with pytest.raises(ConfigError, match="no place for a mount"):
            sandbox.wrap(("x",), Policy(FrozenMap({path: Mount(tmp_path)}), "none"), PLACE)


def test_a_missing_bwrap_says_how_to_get_it() -> None:
    sandbox = Bubblewrap(Settings(binary="no-such-bwrap"))

    assert "apt-get install bubblewrap" in sandbox.works()
    with pytest.raises(ConfigError, match="no-such-bwrap"):
        sandbox.wrap(("x",), Policy(FrozenMap(), "none"), PLACE)


def test_a_bwrap_that_may_not_make_namespaces_names_the_setting(tmp_path: Path) -> None:
    refused = tmp_path / "bwrap"
    refused.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    refused.chmod(0o755)

    reason = Bubblewrap(Settings(binary=str(refused))).works()

    assert "setting up uid map: Permission denied" in reason
    assert "unprivileged_userns_clone" in reason


def test_a_sandbox_that_does_not_start_is_told_apart_from_a_program_that_fails(room: Room, tmp_path: Path) -> None:
    sandbox = Bubblewrap()

    missing = room.run("no-such-program")
    assert "no-such-program" in sandbox.failure(missing)
    assert sandbox.failure(room.run("/bin/sh", "-c", "echo 'bwrap: said by it' >&2; echo more >&2; exit 1")) == ""
    assert sandbox.failure(room.run("/bin/sh", "-c", "exit 1")) == ""
    assert sandbox.failure(room.run("/bin/sh", "-c", "echo 'bwrap: x' >&2; exit 2")) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="what root could read is tried as root")
def test_keys_of_the_machine_are_not_among_its_certificates(room: Room) -> None:
    assert said(room.run("/bin/sh", "-c", "ls -d /etc/ssl/private /etc/pki/tls/private 2>/dev/null")) == ""
