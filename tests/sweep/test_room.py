from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness2_core.sweep.room import room_problems


def test_a_directory_that_can_be_written_is_no_problem_and_keeps_nothing(tmp_path: Path) -> None:
    assert list(room_problems(tmp_path / "runs", 1)) == []
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_disk_that_is_nearly_full_says_how_much_is_left_and_the_ways_out(tmp_path: Path) -> None:
    (told,) = room_problems(tmp_path, 1 << 50)

    assert f"{tmp_path} has " in told
    assert "min_free_mb" in told
    assert "--runs" in told


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")

    (told,) = room_problems(tmp_path / "runs", 0)
    assert "cannot be written" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_of_somebody_else_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    (told,) = room_problems(tmp_path, 0)
    tmp_path.chmod(0o700)
    assert "cannot be written: Permission denied" in told
