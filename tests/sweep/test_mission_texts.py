"""The texts of missions: core's, a mode's own, a person's in their place; tried before anything is paid."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness2_core.model.errors import Harness2Error

TIDY = """
from harness2_core.api import Plan, Roll, Stage, Templates


class Made:
    def plan(self, k):
        stage = Stage("tidy1", "tidy", "base", ("base1",))
        return Plan((stage, Roll("tidy1", "tidy1")), ("base1", "tidy1"), rollouts=k + 1, sessions=1)

    def templates(self):
        texts = {"tidy": "TIDY {{ stage.label }}", "select": "TIDY SELECT {{ ids|join }}", "_note": "A NOTE"}
        return Templates(texts | {"correct": "TIDY AGAIN {{ problems }}", "reflect": "TIDY LESSON {{ adopted }}"})
"""


@pytest.fixture
def own(bench: Any) -> Callable[..., Path]:
    """Writes files into the person's directory, and names it in the configuration."""

    def write(**texts: str) -> Path:
        folder: Path = bench.root / "texts"
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / f"{name}.md.jinja").write_text(text, encoding="utf-8")
        bench.set(templates=folder)
        return folder

    return write


def told(bench: Any, kind: str, **options: object) -> set[str]:
    return {request["mission"] for request in bench.requests(**options) if request.get("kind") == kind}


def test_a_persons_text_stands_in_place_of_a_mode_s_own_and_of_core_s(bench: Any, own: Any) -> None:
    bench.plugin("mode", "tidy", TIDY, token="ty")
    own(tidy="MINE {{ words.work }}{% include '_note' %}", _note="MY NOTE", inv="MY INV")
    bench.run(modes="tidy,parallel")
    (mine,) = told(bench, "tidy", modes="tidy,parallel")
    assert mine.startswith("MINE ")
    assert mine.endswith("MY NOTE\n")
    assert told(bench, "inv", modes="tidy,parallel") == {"MY INV\n"}


def test_a_text_of_a_mode_that_takes_no_part_may_lie_in_the_directory(bench: Any, own: Any) -> None:
    bench.plugin("mode", "tidy", TIDY, token="ty")
    bench.plugin("mode", "broken", "raise RuntimeError('not today')", token="br")
    own(tidy="MINE")
    assert bench.run(modes="parallel").exit_code == 0
    own(tidyy="MINE")
    with pytest.raises(Harness2Error, match=r"'tidyy.md.jinja' replaces no mission text\n  did you mean 'tidy'"):
        bench.run(modes="parallel")


def test_a_mode_s_own_texts_hold_for_its_corrections_votes_and_reflections_and_for_no_other_mode(bench: Any) -> None:
    bench.plugin("mode", "tidy", TIDY, token="ty")
    bench.improver(
        "zealous",
        """
        class Made(Scripted):
            def run(self, request, workspace, ctx):
                if request.kind != "tidy":
                    return super().run(request, workspace, ctx)
                stray = workspace / "context/harness/stray.txt"
                if not request.draw.endswith(".fix"):
                    stray.write_text("off the surface")
                    return Said(Outcome.FINISHED, "<notes>a stray file</notes>", NO_MODEL)
                stray.unlink()
                program = workspace / "context/harness/scripts/solve.py"
                program.write_text(program.read_text().replace("{total}", "{total + 1}"))
                return Said(Outcome.FINISHED, "<notes>one more</notes>", NO_MODEL)
        """,
    )
    bench.set(modes="tidy,parallel")
    bench.run()
    assert told(bench, "select") == {"TIDY SELECT AB\n"}
    (again,) = told(bench, "tidy") - {"TIDY tidy1\n"}
    assert again.startswith("TIDY AGAIN - 'stray.txt'")
    assert {mission[:12] for mission in told(bench, "reflect")} == {"TIDY LESSON ", "You read one"}


def test_what_editors_and_version_control_leave_behind_is_no_text(bench: Any, own: Any) -> None:
    folder = own()
    (folder / ".git").mkdir()
    (folder / ".DS_Store").write_bytes(b"\x00\xff")
    (folder / "inv.md.jinja~").write_text("before")
    (folder / "inv.md.jinja").write_bytes("\ufeffMY\r\nINV\r\n".encode())
    bench.run()
    assert told(bench, "inv") == {"MY\nINV\n"}
    (folder / "inv.md.jinja").write_bytes(b"MY\nINV\n")
    moved = folder.rename(bench.root / "elsewhere")
    assert bench.run(templates=moved).paid.rollouts == 0  # the same texts, wherever they lie and however lines end


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("inv.md.jinja", b"caf\xe9", r"inv.md.jinja: not UTF-8 text \(byte 3\)"),
        ("inv.md.jinja", b"{{ words.wrok }}", r"template 'inv' line 1: .*wrok.*\n  mend .*texts/inv.md.jinja"),
        (
            "_data.md.jinja",
            b"\n{{ stage.hurry }}",
            r"template '_data' line 2: .*hurry.*\n  mend .*texts/_data.md.jinja",
        ),
        (
            "reflect.md.jinja",
            b"x {% if choice.why %}{{ score }}{% endif %}",
            r"template 'reflect' line 1: 'score' is und",
        ),
        (
            "select.md.jinja",
            b"x {% if words.selection_lead %}{{ x }}{% endif %}",
            r"template 'select' line 1: 'x' is und",
        ),
        ("correct.md.jinja", b"{{ problem }}", r"template 'correct' line 1: 'problem' is undefined"),
        ("agg.md.jinja", b"{# version: 9 #}\n", r"template 'agg': tells nothing"),
        ("agg.md.jinja", b"{% include '_dta' %}", r"template 'agg' line 1: includes _dta, which is no template"),
        ("old/inv.md.jinja", b"x", r"old: not a file of a mission text"),
        ("README.md", b"x", r"'README.md' replaces no mission text"),
    ],
)
def test_a_text_that_cannot_be_is_told_before_anything_is_paid(
    bench: Any, own: Any, name: str, data: bytes, said: str
) -> None:
    file = own() / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    with pytest.raises(Harness2Error, match=said):
        bench.run()
    assert not bench.runs.joinpath("adapt").exists()


def test_what_was_done_can_be_looked_at_whatever_became_of_a_text(bench: Any, own: Any) -> None:
    folder = own(inv="MY INV")
    bench.run()
    (folder / "inv.md.jinja").write_text("{{ gone }}")
    assert bench.reading().summary("sums/first").status == "ok"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Templates(texts", "dict(texts", "its method `templates` returned dict, not Templates"),
        ("return Templates", "raise KeyError('x')\n        return Templates", "its method `templates` raised KeyError"),
        ("TIDY {{ stage.label }}", "{{ lable }}", "template 'tidy': 'lable' is undefined|'tidy' line 1: 'lable' is un"),
        ('"base", ("base1",)', '"base", ("base1",), index=x', "its method `plan` for k = 2 raised NameError"),
        ("return Plan", "return k\n        return Plan", "its method `plan` returned int, not a Plan"),
        ("rollouts=k + 1", "rollouts=k + 2", "leaves 3 bases, and there are 2"),
        ('"tidy1", "tidy"', '"tidy1", "tidi"', "asks for the mission text 'tidi', which nobody ships"),
    ],
)
def test_a_faulty_mode_is_named_before_anything_is_paid(bench: Any, old: str, new: str, said: str) -> None:
    assert old in TIDY
    bench.plugin("mode", "tidy", TIDY.replace(old, new), token="ty")
    with pytest.raises(Harness2Error, match=said) as error:
        bench.run(modes="tidy", k=2)
    assert "tidy-mode-made 1.0" in str(error.value)
    assert not bench.runs.joinpath("adapt").exists()


def test_missions_name_all_that_lies_in_the_evidence_and_nothing_else(bench: Any) -> None:
    """Of a whole run with a library: editors, compositions, reflections."""
    bench.task("sums/second", "5\n# a note\n", "5")
    bench.set(modes="sequential", k=2)
    bench.run()
    archive = bench.reading().study.archive
    kinds, seen = set(), set()
    for request in (request for request in bench.requests() if "mission" in request):
        there = set(archive.manifest(request["evidence"]).entries)
        tops = {path.split("/")[0] for path in there} | ({"harness"} if request["editable"] else set())
        named = re.findall(r"context/([\w.]+)(/?)", request["mission"])
        assert {top for top, _ in named} == tops, request["draw"]
        assert all(slash == ("" if "." in top else "/") for top, slash in named)
        kinds.add(request["kind"])
        seen |= tops
    assert kinds >= {"inv", "dom", "compose", "reflect"}
    assert seen >= {"library", "pool", "decisions", "adoption.json"}
