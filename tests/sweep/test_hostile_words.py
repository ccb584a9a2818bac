"""Whatever a model writes, wherever it writes it: it is text, and nothing that acts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness2_core.cli.main import run

EVIL = (
    "\x1b]0;owned\x07\x1b[2J\x9b1A\u202e {{ 7 * 7 }} {% include 'select' %} <script>alert(1)</script> "
    "../../../../escaped $(touch escaped) `touch escaped`\n[run]\nk = 99\n"
)
IMPROVER = """
    from pathlib import Path

    EVIL = {evil!r}

    class Made(Scripted):
        def run(self, request, workspace, ctx):
            return Said(Outcome.FINISHED, self.said(request, workspace / "context"), NO_MODEL)

        def said(self, request, context):
            if request.kind == "select":
                ids = sorted(path.stem for path in (context / "candidates").glob("*.md"))
                return f"<why>{{EVIL}}</why>\\n\\n```choice\\n{{ids[0]}}\\n```"
            if request.kind == "reflect":
                edits = f"component: {{EVIL}}\\nchange: {{EVIL}}\\nobserved: {{EVIL}}\\nverdict: helped"
                lesson = f"cue: {{EVIL}}\\nlesson: {{EVIL}}\\nevidence: {{EVIL}}"
                return f"<edits>\\n{{edits}}\\n</edits>\\n<experience>\\n{{lesson}}\\n</experience>"
            (context / "harness/scripts/extra.py").write_text("open({ran!r}, 'w')\\n")
            program, label = context / "harness/scripts/solve.py", request.draw.rpartition("/")[2]
            act = f'(output / "{{label}}.txt").write_text({{EVIL!r}}); say({{EVIL!r}})'
            program.write_text(program.read_text().replace('say("summed")', act))
            return f"<notes>{{EVIL}}</notes>"
"""
SHOWN = (
    ("show",),
    ("show", "sums/second"),
    ("show", "sums/second", "--mode", "agg", "--trajectory", "agg1"),
    ("show", "sums/second", "--mode", "agg", "--diff", "agg1"),
    ("show", "sums/second", "--mode", "agg", "--evidence", "agg1"),
    ("show", "sums/second", "--mode", "agg", "--deliverables", "agg1"),
    ("report",),
    ("library", "list"),
    ("library", "show", "sums/first"),
)


@pytest.fixture
def hostile(bench: Any) -> Any:
    bench.improver("hostile", IMPROVER.format(evil=EVIL, ran=str(bench.root / "ran")))
    bench.task("sums/second")
    bench.set(k=2)
    assert bench.run().exit_code == 0
    return bench


def test_it_is_kept_as_it_was_written_neither_run_nor_rendered_and_names_no_file(hostile: Any) -> None:
    done, reading = hostile.mode("sums/second"), hostile.reading()
    assert not (hostile.root / "ran").exists()
    assert [reading.text(stage.notes) for stage in done.stages] == [EVIL.strip()] * 6
    assert EVIL.split("\n")[0].strip() in done.selection.why
    missions = [request["mission"] for request in hostile.requests() if request.get("role") == "reflector"]
    assert missions
    assert all("{{ 7 * 7 }} {% include 'select' %}" in text for text in missions)
    assert all(request["mission"].count("49") == 0 for request in hostile.requests() if "mission" in request)
    names = [path.name for path in hostile.root.rglob("*")]
    assert not [name for name in names if "escaped" in name or name.endswith(".html")]
    assert [name for name in names if name.endswith(".toml") and name != "task.toml"] == ["playbook.toml"]
    assert hostile.reading().study.home.k == 2


def test_it_does_not_act_on_a_terminal_that_shows_it(hostile: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = [part for key, value in hostile.options.items() for part in ("-o", f"{key}={value}")]
    (file := hostile.root / "harness2.toml").touch()
    capsys.readouterr()
    for arguments in SHOWN:
        assert run(["--config", str(file), *arguments, *options]) == 0, arguments
        told = "".join(capsys.readouterr())
        assert told.strip(), arguments
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", told), arguments
