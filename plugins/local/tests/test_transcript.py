"""The transcript of the demo at the top of the repository is what the demo prints, lines that it leaves out aside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.process
@pytest.mark.together
def test_the_transcript_in_the_readme_is_what_the_demo_prints(full_demo: Path) -> None:
    if not README.is_file() or not README.read_text(encoding="utf-8").startswith("# Harness2\n"):
        pytest.skip("no checkout of the whole repository")
    (shown,) = re.findall(r"^```console\n\$ harness2 demo\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines()]
    printed = (full_demo.parent / "report.txt").read_text(encoding="utf-8")
    assert re.fullmatch("".join(lines), printed), printed
