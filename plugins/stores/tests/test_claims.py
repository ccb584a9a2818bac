"""Claims: leftovers of killed owners, and file systems on which locks are not to be trusted."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path

import pytest
from harness2_stores import mounts
from harness2_stores.claims import Claims
from harness2_stores.locks import give_back, take
from harness2_stores.mounts import file_system

from harness2_core.api import StoreError


def _files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_what_killed_owners_left_is_removed_a_day_later(tmp_path: Path) -> None:
    for name in ("old.lock", "young.lock"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "old.lock", (0, 0))

    with Claims(tmp_path, network_locks=False).claim("key"):
        pass

    assert _files(tmp_path) == ["young.lock"]


def test_an_old_file_whose_claim_is_in_force_stays(tmp_path: Path) -> None:
    with Claims(tmp_path, network_locks=False).claim("key") as ours:
        os.utime(tmp_path / "key.lock", (0, 0))

        with Claims(tmp_path, network_locks=False).claim("other"):
            pass

        assert ours
        assert _files(tmp_path) == ["key.lock"]
        with Claims(tmp_path, network_locks=False).claim("key") as again:
            assert not again


def test_a_left_file_does_not_hinder_a_new_claim(tmp_path: Path) -> None:
    (tmp_path / "key.lock").touch()

    with Claims(tmp_path, network_locks=False).claim("key") as ours:
        assert ours

    assert _files(tmp_path) == []


@pytest.fixture
def on_nfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = tmp_path / "mountinfo"
    text.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {tmp_path} rw shared:1 - nfs4 host:/x rw\n")
    monkeypatch.setattr(mounts, "_MOUNTS", text)
    return tmp_path


def test_a_network_file_system_is_refused_with_the_way_out(on_nfs: Path) -> None:
    with (
        pytest.raises(StoreError, match="nfs4") as raised,
        Claims(on_nfs / "claims", network_locks=False).claim("key"),
    ):
        pass

    assert "network_locks = true" in raised.value.remedy
    assert str(on_nfs) in raised.value.what


def test_a_person_may_vouch_for_the_locks(on_nfs: Path) -> None:
    with Claims(on_nfs / "claims", network_locks=True).claim("key") as ours:
        assert ours


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/home/me/runs", "ext4"),
        ("/data", "xfs"),
        ("/data/runs", "xfs"),
        ("/database", "ext4"),
        ("/data/with space/runs", "cifs"),
        ("/covered/x", "nfs"),
    ],
)
def test_the_innermost_and_last_mount_decides(path: str, kind: str) -> None:
    mountinfo = "\n".join(
        [
            "20 1 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw",
            "21 20 8:2 / /data rw - xfs /dev/sdb rw",
            "22 21 0:40 / /data/with\\040space rw - cifs //server/share rw",
            "23 20 0:41 / /covered rw - tmpfs tmpfs rw",
            "24 23 0:42 / /covered rw - nfs server:/x rw",
            "a line of another form",
        ]
    )

    assert file_system(mountinfo, path) == kind


def test_a_lock_on_a_file_that_has_lost_its_name_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = str(tmp_path / "key.lock"), fcntl.flock
    tries: list[int] = []

    def flock(descriptor: int, operation: int) -> None:
        if not tries:  # between opening and locking, the former holder takes the name away and another makes it anew
            Path(path).unlink()
            Path(path).touch()
        tries.append(descriptor)
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    lock = take(path)

    assert lock is not None
    assert os.path.samestat(os.fstat(lock), Path(path).stat())
    assert len(tries) == 2
    give_back(lock, path)


@pytest.mark.process
def test_a_claim_dies_with_its_owner_though_a_forked_child_lives_on(tmp_path: Path) -> None:
    claims, (news, tell) = Claims(tmp_path, network_locks=False), os.pipe()
    owner = os.fork()
    if owner == 0:
        with claims.claim("key"):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            os.write(tell, str(child).encode())
            os._exit(0)  # without giving anything back
    os.waitpid(owner, 0)
    child = int(os.read(news, 20))
    try:
        with claims.claim("key") as mine:
            assert mine
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.process
def test_a_forked_child_takes_no_claim_from_its_parent(tmp_path: Path) -> None:
    claims = Claims(tmp_path, network_locks=False)
    with claims.claim("key"):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        with claims.claim("key") as again:
            assert not again
