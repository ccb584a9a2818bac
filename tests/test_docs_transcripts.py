"""What pages show in blocks `console` is typed, from the top of a page to its bottom, and prints what they say.

A page begins in a folder of its own that has the repository's examples in it. In what is printed, a line of three dots
stands for any lines, or for none. A command whose output is not shown must succeed all the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("plugins/*/README.md")))
    if "\n```console\n" in path.read_text(encoding="utf-8")
]
ELSEWHERE = {"harness2 demo": "plugins/local/tests/test_transcript.py"}
"""Command -> the test that types it, because it takes long and others of its kind need its result too."""


def typed(page: Path) -> list[tuple[str, str]]:
    """Every command of a page and what it is said to print, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    return [(line, shown) for part in parts if part for line, _, shown in [part.partition("\n")]]


def pattern(shown: str) -> str:
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown.rstrip("\n").split("\n")]
    return "".join(lines) + r"\n*"


@pytest.mark.process
@pytest.mark.together
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("runs"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS2_")}
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**kept, "PATH": programs, "XDG_CONFIG_HOME": str(tmp_path / "config"), "COLUMNS": "200"}
    where = tmp_path / "where"
    for line, shown in typed(page):
        if line in ELSEWHERE:
            continue
        done = subprocess.run(
            ["bash", "-c", f'{line}\ncode=$?\npwd > "$0"\nexit $code', str(where)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
        if shown.strip():
            assert re.fullmatch(pattern(shown), done.stdout), f"$ {line}\n{done.stdout}"
        folder = Path(where.read_text().strip())


def test_transcripts_are_found() -> None:
    assert {path.name for path in PAGES} >= {"README.md", "start.md", "own-tasks.md", "writing-a-plugin.md"}
    assert all((ROOT / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.parametrize("shown", ["one\ntwo\n", "one\n...\n", "...\ntwo\n", "...\n"])
def test_a_transcript_may_leave_lines_out(shown: str) -> None:
    assert re.fullmatch(pattern(shown), "one\ntwo\n")


@pytest.mark.parametrize("shown", ["one\n", "two\n", "one\ntwo\nthree\n", "...\nthree\n", "on\n...\n"])
def test_a_transcript_that_says_something_else_is_found(shown: str) -> None:
    assert not re.fullmatch(pattern(shown), "one\ntwo\n")
